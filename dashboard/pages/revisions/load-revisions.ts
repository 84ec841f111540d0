// Loads the content of the page: the metadata of the series and its triangle, with the visitor's key or the public one. Without access to the
// triangle, the page shows that of the demo series, and the plan that includes all triangles.
import type { AnswerOf } from '../../../clients/typescript/client.ts';
import { AlmanacError } from '../../../clients/typescript/errors.ts';
import { unitBreaks } from '../../../domain/chart/captions.ts';
import { writeCombination } from '../../../domain/dims-text.ts';
import { combinationText } from '../../text/combinations.ts';
import type { RevisionTable } from '../../../domain/chart/revisions/table.ts';
import { api } from '../../api/clients.ts';
import type { Plan } from '../../components/plan-cards.tsx';
import { keyedApi } from '../../api/access-key.ts';

export type Entry = AnswerOf<'get', '/v1/catalog/{id}'>['data'];
type Triangle = AnswerOf<'get', '/v1/series/{id}/triangle'>;

/** One combination of dimension values, and its triangle. The one that is shown by default comes first. */
export interface Combination {
  /** In the format of `dims=`; empty without dimensions. */
  dims: string;
  name: string;
  table: RevisionTable;
}

export interface Revisions {
  entry: Entry;
  combinations: Combination[];
  /** Whether it was read without a key. */
  isOpen: boolean;
}

export type Loaded =
  | ({ state: 'shown' } & Revisions)
  /** `failure`: the error that the key was refused with. */
  | {
      state: 'locked';
      entry: Entry;
      plan: Plan | undefined;
      demo: Revisions | undefined;
      failure: string | undefined;
    };

export async function loadRevisions(id: string, signal: AbortSignal): Promise<Loaded> {
  const { data: entry } = await api.get('/v1/catalog/{id}', { path: { id }, signal });
  const keyed = keyedApi.peek();
  let failure: string | undefined;
  if (keyed !== undefined) {
    try {
      const triangle = await keyed.get('/v1/series/{id}/triangle', wide(id, signal));
      return { state: 'shown', entry, combinations: combinationsOf(entry, triangle), isOpen: false };
    } catch (error) {
      if (!(error instanceof AlmanacError) || ![401, 402, 403].includes(error.status)) throw error;
      failure = error.message;
    }
  }
  const { data: status } = await api.get('/v1/status', { signal });
  const openId = status.open_revisions_series;
  if (openId === id) return { state: 'shown', ...(await loadOpen(entry, signal)) };
  const demo = openId === null ? undefined : await loadDemo(openId, signal);
  return { state: 'locked', entry, plan: await loadPlan(signal), demo, failure };
}

/** The requested part of a triangle; default: all. */
interface Part {
  /** How many vintages, the newest. */
  last?: number;
  /** The first period. */
  from?: string;
}

const wide = (id: string, signal: AbortSignal, part: Part = {}) =>
  ({ path: { id }, query: { layout: 'wide', ...part }, signal }) as const;

async function loadOpen(entry: Entry, signal: AbortSignal, part?: Part): Promise<Revisions> {
  const triangle = await api.get('/v1/catalog/{id}/triangle', wide(entry.id, signal, part));
  return { entry, combinations: combinationsOf(entry, triangle), isOpen: true };
}

/** The series that is open to visitors; undefined if the operator has not loaded it. */
export async function loadDemo(id: string, signal: AbortSignal, part?: Part): Promise<Revisions | undefined> {
  try {
    const { data } = await api.get('/v1/catalog/{id}', { path: { id }, signal });
    return await loadOpen(data, signal, part);
  } catch (error) {
    if (error instanceof AlmanacError && error.status === 404) return undefined;
    throw error;
  }
}

/** The lowest plan with vintages. */
async function loadPlan(signal: AbortSignal): Promise<Plan | undefined> {
  const { data } = await api.get('/v1/plans', { signal });
  return data.find(({ features }) => features.includes('vintages'));
}

function combinationsOf(entry: Entry, { meta, data }: Triangle): Combination[] {
  const { vintages } = meta;
  const breaks = unitBreaks(meta.breaks).map((each) => ({ date: each.date, declaredOn: each.declared_on }));
  const byDims = new Map<string, { name: string; dates: string[]; rows: (number | null)[][] }>();
  for (const row of data) {
    if (!('values' in row)) throw new TypeError('The triangle is not in the requested layout.');
    const dims = writeCombination(row.dims);
    let found = byDims.get(dims);
    if (found === undefined)
      byDims.set(dims, (found = { name: combinationText(entry.dims, row.dims), dates: [], rows: [] }));
    found.dates.push(row.date);
    found.rows.push(row.values);
  }
  const combinations = [...byDims].map(([dims, { name, dates, rows }]) => ({
    dims,
    name,
    table: { dates, vintages, rows, breaks },
  }));
  const [byDefault] = entry.newest_combinations.map(writeCombination);
  return combinations.toSorted((a, b) => Number(b.dims === byDefault) - Number(a.dims === byDefault));
}
