// The state that the answers of search depend on.
import type { DataState } from '../list.sql.ts';

/** The datasets whose loads change the search entries, or their order. */
export const searched = [
  'series',
  'observations',
  'dimension-labels',
  'funds',
  'amcs',
  'securities',
  'commodity-items',
  'commodity-prices',
  'nav',
  'calendar',
];

/** The day of the newest load, as of which series are stale; null before the first. */
export const dayOf = ({ changedAt }: DataState): string | null =>
  changedAt?.toISOString().slice(0, 10) ?? null;
