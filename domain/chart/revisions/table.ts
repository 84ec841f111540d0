// A triangle as a table: one row per period, one column per vintage, with its first prints, changes and lives. Values of the first vintage
// are not first prints, except that of its newest period: they are older than the table.
import { entryAt } from '../../../kernel/entries.ts';

/** All vintages of one series, or of one combination of its dimension values. */
export interface RevisionTable {
  /** Ascending. */
  dates: readonly string[];
  /** Ascending. */
  vintages: readonly string[];
  /** Per date, per vintage; null: not published yet, deleted, or published as missing. */
  rows: readonly (readonly (number | null)[])[];
  /** The declared breaks of the unit: vintages from that day on have the periods from the date on in another unit. */
  breaks?: readonly { date: string; declaredOn: string }[];
}

/** The value of a period in a vintage. */
export function valueAt({ rows }: RevisionTable, dateNo: number, vintageNo: number): number | null {
  return rows[dateNo]?.[vintageNo] ?? null;
}

/** The position of the vintage that first had the period; -1 if none has it. */
export function firstVintageOf({ rows }: RevisionTable, dateNo: number): number {
  return (rows[dateNo] ?? []).findIndex((value) => value !== null);
}

/** The newest period of the vintage; -1 if it has no period. */
export function newestIn(table: RevisionTable, vintageNo: number): number {
  for (let dateNo = table.dates.length - 1; dateNo >= 0; dateNo -= 1) {
    if (valueAt(table, dateNo, vintageNo) !== null) return dateNo;
  }
  return -1;
}

/** A period whose first print is known, and the vintage that printed it. */
export interface FirstPrint {
  dateNo: number;
  vintageNo: number;
  value: number;
}

/** The first prints, by date. In the first vintage only the newest period counts, as the others were printed before. */
export function firstPrints(table: RevisionTable): FirstPrint[] {
  const newestOfFirst = newestIn(table, 0);
  return table.dates.flatMap((_date, dateNo) => {
    const vintageNo = firstVintageOf(table, dateNo);
    const value = valueAt(table, dateNo, vintageNo);
    if (value === null || (vintageNo === 0 && dateNo !== newestOfFirst)) return [];
    return [{ dateNo, vintageNo, value }];
  });
}

/** The change of a period in a vintage. `before` null: added; `after` null: deleted. */
export interface Change {
  dateNo: number;
  before: number | null;
  after: number | null;
}

/** The changes of the vintage from the previous one, newest period first. The changes of the first vintage are unknown. */
export function changesOf(table: RevisionTable, vintageNo: number): Change[] {
  if (vintageNo === 0) return [];
  const changes: Change[] = [];
  for (let dateNo = table.dates.length - 1; dateNo >= 0; dateNo -= 1) {
    const [before, after] = [valueAt(table, dateNo, vintageNo - 1), valueAt(table, dateNo, vintageNo)];
    if (before !== after) changes.push({ dateNo, before, after });
  }
  return changes;
}

/** A value of a period, and its first vintage; null: deleted in that vintage. */
export interface Step {
  vintageNo: number;
  value: number | null;
}

/** The life of a period: its first value in the table, then every other. */
export function lifeOf(table: RevisionTable, dateNo: number): Step[] {
  const steps: Step[] = [];
  for (let at = firstVintageOf(table, dateNo); at >= 0 && at < table.vintages.length; at += 1) {
    const value = valueAt(table, dateNo, at);
    if (value !== steps.at(-1)?.value || steps.length === 0) steps.push({ vintageNo: at, value });
  }
  return steps;
}

/** The period whose first print was changed most up to the newest vintage; undefined if there is none. */
export function mostRevised(table: RevisionTable): number | undefined {
  const last = table.vintages.length - 1;
  let found: { dateNo: number; size: number } | undefined;
  for (const { dateNo, value } of firstPrints(table)) {
    const latest = valueAt(table, dateNo, last);
    if (latest === null) continue;
    const size = Math.abs(latest - value);
    if (found === undefined || size > found.size) found = { dateNo, size };
  }
  return found?.dateNo;
}

/** How often a value of the table was changed or deleted, not counting additions. */
export function revisionCount(table: RevisionTable): number {
  let count = 0;
  for (const row of table.rows) {
    for (let at = 1; at < row.length; at += 1) {
      if (entryAt(row, at - 1) !== null && entryAt(row, at) !== entryAt(row, at - 1)) count += 1;
    }
  }
  return count;
}
