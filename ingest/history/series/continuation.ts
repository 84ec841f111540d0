// Declares that a series continues as another one, of another frequency, from a date on: a series has one frequency, by which its points
// are dated.
import { frequencies } from '../../../domain/periods.ts';
import type { Database, Transaction } from '../../../kernel/database.ts';
import { fail } from '../../../kernel/errors.ts';
import { firstDayOf, readNote, refuseBreakBefore, refuseUnbreakable } from './break.ts';
import { changeSeries, refuseDeleted, requireById, type ChangeOptions } from './change.ts';
import type { FoundSeries } from './change.sql.ts';
import { findPointsFrom, continuesAs, insertContinuation, readFrequency } from './continuation.sql.ts';
import type { FactsChange } from './set.ts';

export interface ContinuationOptions extends ChangeOptions {
  /** A day or period: from its first day on the points are those of the other series. */
  from: string;
  /** The present id of the other series. */
  continuedBy: string;
  /** The frequency of the other series. */
  frequency: string;
  /** The note for readers. */
  note?: string;
}

/**
 * Declares the continuation. No point of either series changes, and vintages of earlier days do not have it. `removeBreak` reverts it.
 * @throws Failure `not_found`; `invalid_parameter`; `conflict` if the series has the prices of an item, a break or points on or after the date, or
 * already continues; if the other series continues as it, or does not have the stated frequency, or both have it; or if one of them is deleted.
 */
export async function declareContinuation(
  database: Pick<Database, 'transaction'>,
  { from, continuedBy, frequency, note, ...options }: ContinuationOptions,
): Promise<FactsChange> {
  const date = firstDayOf(from);
  const text = readNote(note);
  if (!frequencies.some((known) => known === frequency))
    fail('invalid_parameter', `--frequency ${frequency}: one of ${frequencies.join(', ')} is expected.`);
  let frequencyBefore = '';
  const changes = () => [{ fact: 'frequency', from: frequencyBefore, to: frequency }];
  const change = await changeSeries(database, 'series.break_declared', options, {
    async refuse(series, on) {
      refuseUnbreakable(series);
      frequencyBefore = await readFrequency(on, series.seriesNo);
      await refuseBreakBefore(on, series, date);
      await refuseSuccessor(on, series, await requireById(on, continuedBy), { frequency, frequencyBefore });
      await refusePoints(on, series, date);
    },
    async apply({ on, series: { seriesNo, id }, loadNo, today }) {
      const other = await requireById(on, continuedBy);
      await insertContinuation(on, {
        ...{ seriesNo, date, continuedBy: other.seriesNo, note: text, declaredOn: today, loadNo },
      });
      return { series: id, details: { date, note: text, changes: changes(), continued_by: other.id } };
    },
  });
  return { ...change, changes: changes() };
}

async function refuseSuccessor(
  on: Transaction,
  series: FoundSeries,
  other: FoundSeries,
  { frequency, frequencyBefore }: { frequency: string; frequencyBefore: string },
): Promise<void> {
  if (other.seriesNo === series.seriesNo)
    fail('conflict', `"${series.id}" cannot continue itself: name another series with --continued-by.`);
  refuseDeleted(other);
  const has = await readFrequency(on, other.seriesNo);
  if (has !== frequency)
    fail(
      'conflict',
      `"${other.id}" is ${has}, not ${frequency}: --frequency must be the frequency of the series named by --continued-by.`,
    );
  if (has === frequencyBefore)
    fail(
      'conflict',
      `"${series.id}" and "${other.id}" are both ${has}: a series is continued only by one of another frequency. ` +
        'To merge two series of the same frequency: almanac series merge.',
    );
  if (await continuesAs(on, other.seriesNo, series.seriesNo))
    fail(
      'conflict',
      `"${other.id}" is continued by "${series.id}", which cannot be continued by "${other.id}" too.`,
    );
}

async function refusePoints(on: Transaction, { id, seriesNo }: FoundSeries, date: string): Promise<void> {
  const { count, last } = await findPointsFrom(on, seriesNo, date);
  if (last !== null)
    fail(
      'conflict',
      `"${id}" has ${count === 1 ? 'a point' : `${count} points`} from ${date} on, the last at ${last}: ` +
        'name a later date; the other series may have points before it.',
    );
}
