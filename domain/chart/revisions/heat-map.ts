// The colours of a triangle drawn as a heat map: each cell's change in nine steps, symmetric around no change. The borders of the steps are
// quantiles of the sizes of all changes, rounded to 1, 2 or 5 times a power of ten.
import { entryAt } from '../../../kernel/entries.ts';
import { firstVintageOf, valueAt, type RevisionTable } from './table.ts';

/** The base of a cell's change: its first print in the table, or the previous vintage. */
export type ChangeSince = 'first' | 'before';

/** The change of a cell; null if the vintage does not have the period; 0 for a first print. */
export function changeAt(
  table: RevisionTable,
  dateNo: number,
  vintageNo: number,
  since: ChangeSince,
): number | null {
  const value = valueAt(table, dateNo, vintageNo);
  if (value === null) return null;
  const first = firstVintageOf(table, dateNo);
  if (vintageNo <= first) return 0;
  // A value that is published again after its deletion is compared with the last value before that.
  let at = since === 'first' ? first : vintageNo - 1;
  while (at > first && valueAt(table, dateNo, at) === null) at -= 1;
  return value - (valueAt(table, dateNo, at) ?? value);
}

const quantiles = [0.5, 0.75, 0.9, 0.975] as const;

/**
 * The four borders between the five sizes of a change, ascending. @param dateNos the periods shown.
 * @returns the same for every choice of `since`: those of changes since the first print.
 */
export function bordersOf(table: RevisionTable, dateNos: readonly number[]): number[] {
  const sizes: number[] = [];
  for (const dateNo of dateNos) {
    for (let vintageNo = 0; vintageNo < table.vintages.length; vintageNo += 1) {
      const change = changeAt(table, dateNo, vintageNo, 'first');
      if (change !== null && change !== 0) sizes.push(Math.abs(change));
    }
  }
  sizes.sort((a, b) => a - b);
  const borders: number[] = [];
  // From the largest down: the strongest colours are seen where the changes are largest.
  for (const quantile of quantiles.toReversed()) {
    const size = sizes[Math.min(sizes.length - 1, Math.floor(quantile * sizes.length))] ?? 1;
    const rounded = nearestRound(size);
    const above = borders[0];
    borders.unshift(above === undefined || rounded < above ? rounded : roundBelow(above));
  }
  return borders;
}

/** From −4 to 4; 0 for changes below the first border. @param borders ascending. */
export function stepOf(change: number, borders: readonly number[]): number {
  const size = Math.abs(change);
  // A change of 0.1 may be 0.09999999999999998 as a difference of two floats.
  const step = borders.filter((border) => size >= border * (1 - 1e-9)).length;
  return change < 0 ? -step + 0 : step;
}

const factors = [1, 2, 5, 10];

/** The nearest of 1, 2 or 5 times a power of ten, by ratio. */
function nearestRound(size: number): number {
  const exponent = Math.floor(Math.log10(size));
  const candidates = factors.map((factor) => scaled(factor, exponent));
  return candidates.reduce((best, each) =>
    Math.abs(Math.log(each / size)) < Math.abs(Math.log(best / size)) ? each : best,
  );
}

function roundBelow(round: number): number {
  const exponent = Math.floor(Math.log10(round) + 1e-9);
  const factor = factors.findIndex((each) => Math.abs(scaled(each, exponent) - round) < round * 1e-9);
  return factor > 0 ? scaled(entryAt(factors, factor - 1), exponent) : scaled(5, exponent - 1);
}

function scaled(factor: number, exponent: number): number {
  return exponent < 0 ? factor / 10 ** -exponent : factor * 10 ** exponent;
}
