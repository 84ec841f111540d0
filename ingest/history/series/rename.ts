// Renames a series: it keeps its points and its history, and its earlier ids always resolve to it.
import { isSeriesId } from '../../../domain/series-id.ts';
import type { Database, Transaction } from '../../../kernel/database.ts';
import { fail } from '../../../kernel/errors.ts';
import { changeSeries, refuseDeleted, type ChangeOptions, type SeriesChange } from './change.ts';
import { findById, giveId, type FoundSeries } from './change.sql.ts';

export interface RenameOptions extends ChangeOptions {
  newId: string;
}

/** The prefix of the ids of price series, which items create. */
const itemPrefix = 'commodity.';

/** @throws Failure `not_found`, or `conflict` if the new id is not free or the series cannot be renamed. */
export function renameSeries(
  database: Pick<Database, 'transaction'>,
  { newId, ...options }: RenameOptions,
): Promise<SeriesChange> {
  return changeSeries(database, 'series.renamed', options, {
    refuse: (series, on) => refuseId(on, series, newId),
    async apply({ on, series, loadNo }) {
      await giveId(on, { seriesNo: series.seriesNo, from: series.id, to: newId, loadNo });
      return {
        series: newId,
        details: { renamed_to: newId },
        update: { type: 'series.renamed', from: series.id, to: newId },
      };
    },
  });
}

async function refuseId(on: Transaction, series: FoundSeries, newId: string): Promise<void> {
  if (!isSeriesId(newId))
    fail(
      'invalid_parameter',
      `"${newId}" is not an id of a series: up to 128 letters, digits, ".", "_" and "-", the first a letter or a digit.`,
    );
  refuseDeleted(series);
  if (series.isOfItem)
    fail('conflict', `"${series.id}" has the prices of an item, whose id it follows: it cannot be renamed.`);
  if (newId.startsWith(itemPrefix))
    fail('conflict', `"${newId}": ids that begin with ${itemPrefix} are those of the prices of items.`);
  const other = await findById(on, newId);
  if (other === undefined) return;
  if (other.id === newId) fail('conflict', `There is a series "${newId}" already.`);
  if (other.byMergedId)
    fail('conflict', `"${newId}" is an id of the series that was merged into "${other.id}".`);
  // Its own earlier ids are free, so a rename can be reverted.
  if (other.seriesNo !== series.seriesNo)
    fail('conflict', `"${newId}" is an earlier id of the series "${other.id}", which answers to it.`);
}
