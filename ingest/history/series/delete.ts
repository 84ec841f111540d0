// Deletes a series, and restores a deleted or merged one. In between it keeps its points and history, and is not served.
import type { Database } from '../../../kernel/database.ts';
import { fail } from '../../../kernel/errors.ts';
import { changeSeries, requireById, type ChangeOptions, type SeriesChange } from './change.ts';
import { findMerged, setDeleted } from './change.sql.ts';
import { restoreMergedIds } from './merge.sql.ts';

/** @throws Failure `not_found`; `conflict` if it is already deleted or has the prices of an item. */
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
      return { series: series.id, details: {}, update: { type: 'series.deleted' } };
    },
  });
}

/**
 * Restores the series. A merged series gets its ids back; the points that the merge copied to the other series stay there.
 * @throws Failure `not_found`; `conflict` if it is neither deleted nor merged.
 */
export function restoreSeries(
  database: Pick<Database, 'transaction'>,
  options: ChangeOptions,
): Promise<SeriesChange> {
  return changeSeries(database, 'series.restored', options, {
    find: async (on, id) => (await findMerged(on, id)) ?? requireById(on, id),
    refuse({ id, deletedOn }) {
      if (deletedOn === null) fail('conflict', `"${id}" is not deleted.`);
    },
    async apply({ on, series, loadNo }) {
      if (series.mergedInto !== null) {
        const into = await requireById(on, series.mergedInto);
        await restoreMergedIds(on, { old: series.seriesNo, oldId: series.id, into: into.seriesNo, loadNo });
      }
      await setDeleted(on, { seriesNo: series.seriesNo, deletedOn: null, loadNo });
      const merged = series.mergedInto === null ? {} : { merged_into: series.mergedInto };
      return {
        series: series.id,
        details: { deleted_on: series.deletedOn, ...merged },
        update: { type: 'series.restored' },
      };
    },
  });
}
