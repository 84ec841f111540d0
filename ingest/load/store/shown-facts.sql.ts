// What must follow in the same transaction when a series changes: its entry in the search, and the series that show its id and frequency.
import type { Queryable } from '../../../kernel/database.ts';
import type { Dataset } from '../../datasets/dataset.ts';

/**
 * Makes the search find the series by what they are now: after any change of their metadata, earlier ids, dimension values or labels, and
 * after they were made, deleted or restored. A series whose entry is as it should be costs a look-up.
 */
export async function refreshSearch(on: Queryable, seriesNos: readonly number[]): Promise<void> {
  await on.query('select data.refresh_search($1)', [seriesNos]);
}

/**
 * After a change of the id or the frequency of the series, or that it was deleted or restored: the series that goes on as this one and
 * the one as which it goes on show these, so they are changed too.
 */
export async function changeNeighbours(on: Queryable, seriesNo: number): Promise<void> {
  await on.query(
    `update data.series set updated_at = now(), row_version = row_version + 1 where series_no in (
       select continued_by from data.series_continuations where series_no = $1
       union select series_no from data.series_continuations where continued_by = $1)`,
    [seriesNo],
  );
}

/** What else a statement does whose `done` has changed rows that series show. */
export interface Shown {
  /** The column that `done` has to return. */
  returning: string;
  /** A further common table expression. */
  change: string;
}

/** Labels and notes are shown by their series: a change of one is a change of the series. */
export function shownBySeries({ references = [] }: Dataset): Shown {
  return references.some(({ number }) => number === 'series_no')
    ? {
        returning: 'k.series_no',
        change:
          ', shown as (update data.series set updated_at = now(), row_version = row_version + 1 where series_no in (select series_no from done))',
      }
    : { returning: '1', change: '' };
}

/**
 * The search finds series by their metadata and labels. To be called when both are stored: a series that this transaction changed has its
 * instant.
 */
export async function refreshSearchOfStaged(on: Queryable, dataset: Dataset): Promise<void> {
  if (!['data.series', 'data.dimension_labels'].includes(dataset.target)) return;
  await on.query(
    `select data.refresh_search(array(
       select series_no from data.series where updated_at = now() and series_id in (select series_id from load_table)))`,
  );
}

/** As `changeNeighbours`, for the frequencies of load_table; before they are stored. */
export async function changeNeighboursOfStaged(on: Queryable): Promise<void> {
  await on.query(
    `update data.series n set updated_at = now(), row_version = n.row_version + 1 from (
       select c.series_no, c.continued_by from load_table t join data.series s using (series_id)
       join data.series_continuations c on s.series_no in (c.series_no, c.continued_by)
       where t.frequency <> s.frequency) changed
     where n.series_no in (changed.series_no, changed.continued_by)`,
  );
}
