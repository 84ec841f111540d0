// Decides which values of a period can be compared: those between two changes of base or unit. A change is declared, or inferred from a
// factor that all periods of a vintage have in common.
import { decimalsOf } from '../text.ts';
import { valueAt, type RevisionTable } from './table.ts';

/** A vintage since which a factor applies to all earlier values. */
export interface Rebasing {
  vintageNo: number;
  factor: number;
}

/** Fewer periods may share a factor by chance. */
const periodsLeast = 4;
/** The newest periods may be revised by the same vintage. */
const shareLeast = 0.8;
/** The minimum size of a factor, in multiples of the effect of rounding. Below that it may be a revision of the last digit. */
const clearOfRounding = 3;

/** The vintages that changed the base of everything, ascending. */
export function rebasingsOf(table: RevisionTable): Rebasing[] {
  const decimals = table.vintages.map((_, vintageNo) =>
    decimalsOf(table.rows.flatMap((row) => row[vintageNo] ?? [])),
  );
  return table.vintages.flatMap((_, vintageNo) => {
    if (vintageNo === 0) return [];
    const [halfBefore, halfAfter] = [decimals[vintageNo - 1] ?? 0, decimals[vintageNo] ?? 0].map(
      (digits) => 0.5 * 10 ** -digits,
    ) as [number, number];
    const factor = commonFactor(pairsOf(table, vintageNo), halfBefore, halfAfter);
    return factor === undefined ? [] : [{ vintageNo, factor }];
  });
}

type Pair = readonly [before: number, after: number];

/** The values other than 0 of the periods that a vintage and the one before it have. */
function pairsOf(table: RevisionTable, vintageNo: number): Pair[] {
  return table.dates.flatMap((_, dateNo) => {
    const [before, after] = [valueAt(table, dateNo, vintageNo - 1), valueAt(table, dateNo, vintageNo)];
    return before === null || after === null || before === 0 || after === 0 ? [] : [[before, after] as const];
  });
}

/** The factor of nearly all pairs, within the precision of their digits. @param halfBefore half a unit of the last digit. */
function commonFactor(pairs: readonly Pair[], halfBefore: number, halfAfter: number): number | undefined {
  if (pairs.length < periodsLeast || pairs.every(([before, after]) => before === after)) return undefined;
  const factors = pairs.map(([before, after]) => after / before).toSorted((a, b) => a - b);
  const factor = factors[Math.floor(factors.length / 2)] ?? 1;
  if (!(factor > 0)) return undefined;
  const rounding = halfAfter + factor * halfBefore;
  const fitting = pairs.filter(([before, after]) => Math.abs(after - factor * before) <= 2 * rounding);
  const clear = fitting.filter(([before, after]) => Math.abs(after - before) > clearOfRounding * rounding);
  const needed = Math.max(periodsLeast, shareLeast * pairs.length);
  return clear.length >= needed ? factor : undefined;
}

/** @returns the last vintage whose value of a period can be compared with that of a vintage. */
export function comparableUntil(table: RevisionTable): (dateNo: number, vintageNo: number) => number {
  const ofAll = rebasingsOf(table).map(({ vintageNo }) => vintageNo);
  const declared = (table.breaks ?? []).map((each) => ({ ...each, vintageNos: changesOfUnit(table, each) }));
  return (dateNo, vintageNo) => {
    const own = declared.filter(({ date }) => date <= (table.dates[dateNo] ?? ''));
    const changes = [...ofAll, ...own.flatMap(({ vintageNos }) => vintageNos)];
    const later = changes.filter((no) => no > vintageNo);
    return Math.min(table.vintages.length, ...later) - 1;
  };
}

/** The vintages that may have put the periods from a break on into their new unit: the first that has it, and those that show it. */
function changesOfUnit(
  { dates, vintages, rows }: RevisionTable,
  { date, declaredOn }: { date: string; declaredOn: string },
): number[] {
  const from = dates.findIndex((each) => each >= date);
  const shown =
    from === -1 ? [] : rebasingsOf({ dates: dates.slice(from), vintages, rows: rows.slice(from) });
  const first = vintages.findIndex((vintage) => vintage >= declaredOn);
  return [...(first === -1 ? [] : [first]), ...shown.map(({ vintageNo }) => vintageNo)];
}
