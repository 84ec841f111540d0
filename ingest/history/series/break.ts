// Declares a break of a series: from a date on its points are in another unit, or have another base. Also removes breaks. Only the units
// before breaks are stored; the last unit is that of the series.
import type { Database, Transaction } from '../../../kernel/database.ts';
import { parsePeriod } from '../../../kernel/dates.ts';
import { fail } from '../../../kernel/errors.ts';
import { changeSeries, refuseDeleted, type ChangeOptions } from './change.ts';
import type { FoundSeries } from './change.sql.ts';
import { deleteBreak, findLastBreak, insertBreak } from './break.sql.ts';
import { deleteContinuation } from './continuation.sql.ts';
import { readFacts, type FactsChange } from './set.ts';
import { findFactChanges, updateFacts, type FactChange } from './set.sql.ts';

export interface BreakOptions extends ChangeOptions {
  /** A day or period: the points from its first day on are in the new unit. */
  from: string;
  /** `unit`, `unit_multiplier` or both, for the points from then on. */
  facts: Readonly<Record<string, string>>;
  /** The note for readers. */
  note?: string;
}

const breakable: ReadonlySet<string> = new Set(['unit', 'unit_multiplier']);
const noteLengthMax = 2_000;

/**
 * Declares the break. No point changes, and vintages of earlier days do not have the break.
 * @throws Failure `not_found`; `invalid_parameter`; `conflict` if the series already has the unit, or a break on the date or later.
 */
export async function declareBreak(
  database: Pick<Database, 'transaction'>,
  { from, facts, note, ...options }: BreakOptions,
): Promise<FactsChange> {
  const date = firstDayOf(from);
  const values = readBreakable(facts);
  const text = readNote(note);
  let changes: FactChange[] = [];
  const change = await changeSeries(database, 'series.break_declared', options, {
    async refuse(series, on) {
      refuseUnbreakable(series);
      changes = await findFactChanges(on, series.seriesNo, values);
      if (changes.length === 0)
        fail(
          'conflict',
          `"${series.id}" has that unit already. The series must have the unit of the points before the break: almanac series set.`,
        );
      await refuseBreakBefore(on, series, date);
    },
    async apply({ on, series: { seriesNo, id }, loadNo, today }) {
      await insertBreak(on, { seriesNo, date, note: text, declaredOn: today, loadNo });
      await updateFacts(on, loadNo, [{ seriesNo, values }]);
      return { series: id, details: { date, note: note ?? null, changes } };
    },
  });
  return { ...change, changes };
}

/**
 * Removes the last break: the series gets the unit from before it, or no longer continues as another series.
 * @throws Failure `not_found`; `invalid_parameter`; `conflict` if the last break of the series is at another date.
 */
export async function removeBreak(
  database: Pick<Database, 'transaction'>,
  { from, ...options }: Omit<BreakOptions, 'facts' | 'note'>,
): Promise<FactsChange> {
  const date = firstDayOf(from);
  let continuedBy: string | null = null;
  const change = await changeSeries(database, 'series.break_removed', options, {
    async refuse(series, on) {
      refuseUnbreakable(series);
      const last =
        (await findLastBreak(on, series.seriesNo)) ?? fail('conflict', `"${series.id}" has no break.`);
      if (last.date !== date)
        fail('conflict', `The last break of "${series.id}" is at ${last.date}: remove that one first.`);
      ({ continuedBy } = last);
    },
    async apply({ on, series: { seriesNo, id }, loadNo }) {
      if (continuedBy === null) {
        await deleteBreak(on, { seriesNo, date, loadNo });
        return { series: id, details: { date } };
      }
      await deleteContinuation(on, { seriesNo, loadNo });
      return { series: id, details: { date, continued_by: continuedBy } };
    },
  });
  return { ...change, changes: [] };
}

/** @throws Failure `invalid_parameter`. */
export function firstDayOf(text: string): string {
  const period =
    parsePeriod(text) ??
    fail('invalid_parameter', `--from ${text}: a day or a period, such as 2024-01-01 or 2024-01.`);
  return period.from;
}

/** @throws Failure `invalid_parameter`. */
export function readNote(note: string | undefined): string | null {
  if (note === undefined) return null;
  const text = note.trim();
  if (text === '' || note.length > noteLengthMax)
    fail('invalid_parameter', `A note is a text of 1 to ${noteLengthMax} characters.`);
  return text;
}

function readBreakable(facts: Readonly<Record<string, string>>): Record<string, string | null> {
  const values = readFacts(facts);
  if (values['unit'] === null)
    fail(
      'invalid_parameter',
      `unit="${facts['unit'] ?? ''}": a break needs the unit of the points after it.`,
    );
  const others = Object.keys(values).filter((fact) => !breakable.has(fact));
  if (others.includes('frequency'))
    fail(
      'invalid_parameter',
      'A series has one frequency, on which the dates of its points depend. Load points of another frequency as another series, and declare it with --frequency and --continued-by.',
    );
  if (others.length > 0 || Object.keys(values).length === 0)
    fail(
      'invalid_parameter',
      `A break is a change of unit or unit_multiplier${others.length === 0 ? '' : `, not of ${others.join(', ')}`}.`,
    );
  return values;
}

/** @throws Failure `conflict`. */
export function refuseUnbreakable(series: FoundSeries): void {
  refuseDeleted(series);
  if (series.isOfItem)
    fail(
      'conflict',
      `"${series.id}" has the prices of an item, from which it gets its unit: it cannot have breaks.`,
    );
}

/** @throws Failure `conflict` if the series has a break on the date or later, or is continued as another one. */
export async function refuseBreakBefore(
  on: Transaction,
  { id, seriesNo }: FoundSeries,
  date: string,
): Promise<void> {
  const last = await findLastBreak(on, seriesNo);
  if (last === undefined) return;
  if (last.continuedBy !== null)
    fail(
      'conflict',
      `"${id}" is continued by "${last.continuedBy}" from ${last.date}, so it has no later breaks. ` +
        `To undo that: almanac series break ${id} --from ${last.date} --remove`,
    );
  if (last.date >= date) fail('conflict', `"${id}" has a break at ${last.date}; another one must be later.`);
}
