// Logarithms of exact decimals, and functions with powers and roots, with ten significant digits. The difference of two nearly equal values
// is computed exactly before it becomes a floating-point number.
import { alignedUnits, minus, plus, significant, zero, type Decimal } from './decimal.ts';

const one: Decimal = { units: 1, scale: 0 };

/** ln x; null if x is not positive. */
export function naturalLog(x: Decimal): string | null {
  const log = logRatio(x, one);
  return log === null ? null : significant(log) || null;
}

/** (ln x − ln base) · 100 · times; null if one of the two is not positive. */
export function logChange(x: Decimal, base: Decimal, times: number): string | null {
  const log = logRatio(x, base);
  return log === null ? null : significant(log * 100 * times) || null;
}

/** ((x / base) ^ times − 1) · 100; null if the base is not positive, x is negative, or the result is beyond any number. */
export function compoundChange(x: Decimal, base: Decimal, times: number): string | null {
  if (base.units <= 0 || x.units < 0) return null;
  const log = logRatio(x, base);
  return log === null ? '-100' : significant(100 * Math.expm1(times * log)) || null;
}

/** The exact sums for a mean and a standard deviation. */
export interface Moments {
  count: number;
  sum: Decimal;
  squares: Decimal;
}

export const noMoments: Moments = { count: 0, sum: zero, squares: zero };

export function withValue({ count, sum, squares }: Moments, x: Decimal): Moments {
  const square: Decimal = { units: BigInt(x.units) * BigInt(x.units), scale: 2 * x.scale };
  return { count: count + 1, sum: plus(sum, x), squares: plus(squares, square) };
}

/** (x − mean) / standard deviation, that of a sample (n − 1); null for fewer than two values, or equal ones. */
export function standardScore(x: Decimal, { count, sum, squares }: Moments): string | null {
  if (count < 2) return null;
  const n = BigInt(count);
  const times = ({ units, scale }: Decimal, by: bigint): Decimal => ({ units: BigInt(units) * by, scale });
  // z² = (n·x − sum)² (n − 1) / (n (n·squares − sum²)), of which both differences are exact.
  const above = minus(times(x, n), sum);
  const spread = minus(times(squares, n), {
    units: BigInt(sum.units) * BigInt(sum.units),
    scale: 2 * sum.scale,
  });
  if (Number(spread.units) <= 0) return null;
  const [square, variance] = alignedUnits(
    { units: BigInt(above.units) * BigInt(above.units), scale: 2 * above.scale },
    spread,
  );
  const score = Math.sqrt((quotient(square, variance) * (count - 1)) / count);
  return significant(above.units < 0 ? -score : score) || null;
}

/** ln (x / base); null if one of the two is not positive. */
function logRatio(x: Decimal, base: Decimal): number | null {
  if (x.units <= 0 || base.units <= 0) return null;
  const [a, b] = alignedUnits(x, base);
  const change = quotient(a - b, b);
  // Near 1 the logarithm of a rounded ratio would have few correct digits.
  return Math.abs(change) < 0.5 ? Math.log1p(change) : Math.log(quotient(a, b));
}

const significantDigits = 20;

/** a / b in floating point, also of whole numbers that are too large for it. */
function quotient(a: bigint, b: bigint): number {
  const [x, y] = [Number(a), Number(b)];
  if (Number.isFinite(x) && Number.isFinite(y)) return x / y;
  const excess = BigInt(10) ** BigInt(Math.max(0, String(b).length - significantDigits));
  return Number(a / excess) / Number(b / excess);
}
