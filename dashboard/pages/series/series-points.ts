// Loads the points of a view and turns them into lines: with a key all of them, without one those of the public preview.
import type { AnswerOf } from '../../../clients/typescript/client.ts';
import type { ChartPoint } from '../../../domain/chart/line-points.ts';
import { keyedApi } from '../../api/access-key.ts';
import { api } from '../../api/clients.ts';
import type { Aggregate, TargetFrequency } from '../../../domain/aggregates.ts';
import type { Transform } from '../../../domain/transforms.ts';
import type { Dimension } from './default-view.ts';

export type SeriesEntry = AnswerOf<'get', '/v1/catalog/{id}'>['data'];
type Answer = AnswerOf<'get', '/v1/series/{id}'>;
type Meta = Answer['meta'];

export interface SeriesLine {
  dims: Readonly<Record<string, string>>;
  points: ChartPoint[];
}

export interface SeriesPoints {
  meta: Meta;
  /** In the order of the dimension values. */
  lines: SeriesLine[];
  /** The most points per line of a preview; null: all points are here. */
  previewPoints: number | null;
  /** Only the newest points were loaded: there are more than a page can hold. */
  isCut: boolean;
}

interface Asked {
  dims: string[];
  frequency: TargetFrequency | null;
  aggregate: Aggregate | null;
  transform: Transform | null;
  base: string | null;
  vintage: string | null;
  /** Only with a vintage: the load that the values belong to; null: the newest. */
  version?: number | null;
  /** The most points. */
  limit?: number;
}

/** @throws AlmanacError */
export async function loadPoints(
  id: string,
  { dims, frequency, aggregate, transform, base, vintage, version = null, limit = 100_000 }: Asked,
  signal: AbortSignal,
): Promise<SeriesPoints> {
  const selected = dims.length === 0 ? {} : { dims };
  const keyed = keyedApi.value;
  if (keyed === undefined) {
    const { meta, data } = await api.get('/v1/catalog/{id}/preview', {
      path: { id },
      query: { ...selected, include_missing: true },
      signal,
    });
    return { lines: linesOf(data, meta), meta, previewPoints: meta.preview.points_max, isCut: false };
  }
  const { meta, data, pagination } = await keyed.get('/v1/series/{id}', {
    path: { id },
    query: {
      ...selected,
      sort: 'desc',
      limit,
      include_missing: true,
      ...(frequency === null ? {} : { frequency }),
      ...(aggregate === null ? {} : { aggregate }),
      ...(transform === null ? {} : { transform }),
      ...(transform === 'index' && base !== null ? { base } : {}),
      ...(vintage === null ? {} : { vintage }),
      ...(version === null ? {} : { version }),
    },
    signal,
  });
  const isCut = pagination.next_cursor !== null;
  return { lines: linesOf(data.toReversed(), meta), meta, previewPoints: null, isCut };
}

function linesOf(data: Answer['data'], meta: { dims: readonly Dimension[] }): SeriesLine[] {
  const lines = new Map<string, SeriesLine>();
  for (const { date, value = null, dims = {} } of data) {
    if (date === undefined) continue;
    const key = JSON.stringify(dims);
    const line = lines.get(key);
    if (line === undefined) lines.set(key, { dims, points: [{ date, value }] });
    else line.points.push({ date, value });
  }
  const placeOf = (dims: SeriesLine['dims']): number =>
    meta.dims.reduce(
      (place, { name, values }) => place * values.length + values.indexOf(dims[name] ?? ''),
      0,
    );
  return [...lines.values()].sort((a, b) => placeOf(a.dims) - placeOf(b.dims));
}
