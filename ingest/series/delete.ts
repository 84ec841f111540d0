// Deletes a series, and restores it: it keeps its points and its history, and is served to nobody in between.
import type { Database } from '../../kernel/database.ts';
import { fail } from '../../kernel/errors.ts';
import { changeSeries, type ChangeOptions, type SeriesChange } from './change.ts';
import { setDeleted } from './change.sql.ts';

/** @throws Failure `not_found`; `conflict` if it is deleted already or has the prices of an item. */
export function deleteSeries(
  database: Pick<Database, 'transaction'>,
  options: ChangeOptions,
): Promise<SeriesChange> {
  return changeSeries(database, 'series.deleted', options, {
    refuse({ id, deletedOn, isOfItem }) {
      if (deletedOn !== null) fail('conflict', `"${id}" was deleted on ${deletedOn} already.`);
      if (isOfItem)
        fail(
          'conflict',
          `"${id}" has the prices of an item, which would be left without: it cannot be deleted.`,
        );
    },
    async apply({ on, series, loadNo, today }) {
      await setDeleted(on, { seriesNo: series.seriesNo, deletedOn: today, loadNo });
      return { series: series.id, details: {} };
    },
  });
}

/** @throws Failure `not_found`; `conflict` if it is not deleted. */
export function restoreSeries(
  database: Pick<Database, 'transaction'>,
  options: ChangeOptions,
): Promise<SeriesChange> {
  return changeSeries(database, 'series.restored', options, {
    refuse({ id, deletedOn }) {
      if (deletedOn === null) fail('conflict', `"${id}" is not deleted.`);
    },
    async apply({ on, series, loadNo }) {
      await setDeleted(on, { seriesNo: series.seriesNo, deletedOn: null, loadNo });
      return { series: series.id, details: { deleted_on: series.deletedOn } };
    },
  });
}
