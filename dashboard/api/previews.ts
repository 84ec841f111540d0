// The newest points of series for small charts, as visitors may see them.
import { AlmanacError } from '../../clients/typescript/errors.ts';
import { api } from './clients.ts';

export interface PreviewPoint {
  date: string;
  value: number;
}

const idsMax = 50;

/** Series id → its newest points, ascending. Empty if the operator has switched previews off. */
export async function previewsOf(
  ids: readonly string[],
  { signal, limit = 24 }: { signal: AbortSignal; limit?: number },
): Promise<ReadonlyMap<string, PreviewPoint[]>> {
  const previews = new Map<string, PreviewPoint[]>();
  for (let at = 0; at < ids.length; at += idsMax) {
    try {
      const query = { ids: ids.slice(at, at + idsMax), limit };
      const { data } = await api.get('/v1/previews', { query, signal });
      for (const each of data) previews.set(each.series, each.data);
    } catch (error) {
      if (error instanceof AlmanacError && error.status === 404) return previews;
      throw error;
    }
  }
  return previews;
}
