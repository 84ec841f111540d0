// Loads the series of a comparison, each at its own vintage: with a key as requested, without one the newest points of the preview. A
// series with dimensions is compared by one combination of their values.
import type { AnswerOf } from '../../../clients/typescript/client.ts';
import type { AlmanacError } from '../../../clients/typescript/errors.ts';
import type { ChartPoint } from '../../../domain/chart/line-points.ts';
import { api, asAlmanacError } from '../../api/clients.ts';
import { combinationText } from '../../text/combinations.ts';
import { writeCombination } from '../../../domain/dims-text.ts';
import { loadPoints } from '../series/series-points.ts';
import type { Compared } from './compare-state.ts';

type Meta = AnswerOf<'get', '/v1/series/{id}'>['meta'];

export interface Loaded {
  compared: Compared;
  meta: Meta;
  /** The available combinations, in the API's format, by name; empty if the series has no dimensions. */
  combinations: { value: string; label: string }[];
  /** The combination compared, and its name. */
  dims: string | null;
  dimsName: string | null;
  points: ChartPoint[];
  isPreview: boolean;
}

export type Outcome = Loaded | { compared: Compared; error: AlmanacError };

const asPublished = { frequency: null, aggregate: null, transform: null, base: null, limit: 50_000 };

/** All series; one that cannot be loaded shows its error, and does not hide the others. */
export function loadCompared(series: readonly Compared[], signal: AbortSignal): Promise<Outcome[]> {
  return Promise.all(
    series.map(async (compared): Promise<Outcome> => {
      try {
        return await loadOne(compared, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        return { compared, error: asAlmanacError(error) };
      }
    }),
  );
}

async function loadOne(compared: Compared, signal: AbortSignal): Promise<Loaded> {
  const { id, vintage, version } = compared;
  const { data: entry } = await api.get('/v1/catalog/{id}', { path: { id }, signal });
  const newest = entry.newest_combinations.map(writeCombination);
  const dims = compared.dims ?? newest[0] ?? null;
  const combinations = entry.newest_combinations
    .map((values) => ({ value: writeCombination(values), label: combinationText(entry.dims, values) }))
    .toSorted((a, b) => (a.label < b.label ? -1 : 1));
  const dimsName = combinations.find(({ value }) => value === dims)?.label ?? dims;
  const asked = { ...asPublished, dims: dims === null ? [] : [dims], vintage, version };
  const { meta, lines, previewPoints } = await loadPoints(id, asked, signal);
  const points = lines[0]?.points ?? [];
  return { compared, meta, combinations, dims, dimsName, points, isPreview: previewPoints !== null };
}
