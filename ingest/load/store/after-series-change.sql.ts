// The follow-up of a changed series in the same transaction: its search entry, and the series that show its id and frequency.
import type { Queryable } from '../../../kernel/database.ts';
import type { Dataset } from '../../datasets/dataset.ts';
import { insertFormerFacts, type KindOfFacts } from './former-facts.sql.ts';

/**
 * Updates the search entries of series. Call it after any change of their metadata, earlier ids, dimension values or labels, and after they
 * were created, deleted or restored. An entry that is already right costs a look-up.
 */
export async function refreshSearch(on: Queryable, seriesNos: readonly number[]): Promise<void> {
  await on.query('select data.refresh_search($1)', [seriesNos]);
}

/**
 * Marks the neighbours of series as changed. Call it after the id or the frequency of a series changed, or the series was deleted or
 * restored: the series that continues as this one, and the one as which it continues, show these facts.
 */
export async function changeNeighbours(on: Queryable, seriesNo: number): Promise<void> {
  await on.query(
    `update data.series set updated_at = now(), row_version = row_version + 1 where series_no in (
       select continued_by from data.series_continuations where series_no = $1
       union select series_no from data.series_continuations where continued_by = $1)`,
    [seriesNo],
  );
}

/** Marks series as changed by the load. Readers' caches of their facts depend on the version. */
export async function markChanged(
  on: Queryable,
  seriesNos: readonly number[],
  loadNo: number,
): Promise<void> {
  await on.query(
    'update data.series set data_version = $2, row_version = row_version + 1, updated_at = now() where series_no = any($1)',
    [seriesNos, loadNo],
  );
}

/** The additional work of a statement whose `done` has changed rows that series show. */
export interface Shown {
  /** The column that `done` has to return. */
  returning: string;
  /** Further common table expressions; $1 is the number of the load if `needsLoad`. */
  change: string;
  needsLoad: boolean;
}

/** The facts of series that each table has. */
const factsIn: Readonly<Record<string, KindOfFacts>> = {
  'data.series': 'series',
  'data.commodity_items': 'series',
  'data.dimension_labels': 'labels',
  'data.footnotes': 'notes',
};

/** Labels and notes are served with their series, so a change of one counts as a change of the series. What it changes is kept. */
export function shownBySeries({ target, references = [] }: Dataset): Shown {
  const kind = factsIn[target];
  if (kind === undefined) return { returning: '1', change: '', needsLoad: false };
  const changed = 'select series_no from done';
  const change = `, kept as (${insertFormerFacts(kind, changed, { load: '$1' })})`;
  const isOfSeries = references.some(({ number }) => number === 'series_no');
  return {
    ...{ returning: 'k.series_no', needsLoad: true },
    change: isOfSeries
      ? `${change}, shown as (update data.series set updated_at = now(), row_version = row_version + 1 where series_no in (${changed}))`
      : change,
  };
}

/**
 * The search finds series by their metadata and labels. Call it when both are stored: a series that this transaction changed then has its
 * instant.
 */
export async function refreshSearchOfStaged(on: Queryable, dataset: Dataset): Promise<void> {
  if (!['data.series', 'data.dimension_labels'].includes(dataset.target)) return;
  await on.query(
    `select data.refresh_search(array(
       select series_no from data.series where updated_at = now() and series_id in (select series_id from load_table)))`,
  );
}

/** As `changeNeighbours`, for the frequencies of load_table; call it before they are stored. */
export async function changeNeighboursOfStaged(on: Queryable): Promise<void> {
  await on.query(
    `update data.series n set updated_at = now(), row_version = n.row_version + 1 from (
       select c.series_no, c.continued_by from load_table t join data.series s using (series_id)
       join data.series_continuations c on s.series_no in (c.series_no, c.continued_by)
       where t.frequency <> s.frequency) changed
     where n.series_no in (changed.series_no, changed.continued_by)`,
  );
}
