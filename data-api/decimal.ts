// Exact decimals, as they are published: no value is rounded to a binary fraction on its way to the client. Numbers that are small enough
// are computed in floating point where that gives the same digits, in a fifth of the time; others with BigInt. A quotient is rounded half
// away from zero; trailing zeros of a computed number are dropped.
import { percentDigits } from '../domain/percent.ts';

/** units · 10^−scale; a whole number of at most 15 digits, or a bigint. */
export interface Decimal {
  units: number | bigint;
  scale: number;
}

const digitsOfNumber = 15;
/** The powers of ten that a number represents exactly. */
const powers = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/** Parses plain digits, such as `-12.340`, as PostgreSQL writes a numeric. */
export function decimal(text: string): Decimal {
  const point = text.indexOf('.');
  const scale = point < 0 ? 0 : text.length - point - 1;
  // The product is off by a quarter at most, so the nearest whole number is the right one.
  if (text.length <= digitsOfNumber) return { units: Math.round(Number(text) * power(scale)), scale };
  return { units: BigInt(point < 0 ? text : text.slice(0, point) + text.slice(point + 1)), scale };
}

/** (x / base − 1) · 100, rounded as computed percentages are; null if the base is not positive. */
export function percentChange(x: Decimal, base: Decimal): string | null {
  if (base.units <= 0) return null;
  const numbers = alignedNumbers(x, base);
  const quick = numbers && quickPercent(numbers[0] - numbers[1], numbers[1]);
  if (quick !== null) return quick;
  const [a, b] = alignedUnits(x, base);
  return percent(a - b, b);
}

/** 100 · x / base, rounded as computed percentages are; null if the base is not positive. */
export function percentOf(x: Decimal, base: Decimal): string | null {
  if (base.units <= 0) return null;
  const numbers = alignedNumbers(x, base);
  const quick = numbers && quickPercent(...numbers);
  return quick ?? percent(...alignedUnits(x, base));
}

/** The arithmetic mean, with `decimalsMin` decimals, or four more than the values have if that is more. */
export function mean(values: readonly Decimal[], decimalsMin: number): string {
  const scale = Math.max(...values.map((value) => value.scale));
  const decimals = Math.max(decimalsMin, scale + 4);
  const quick = quickMean(values, scale, decimals);
  if (quick !== null) return quick;
  const sum = values.reduce(
    (total, value) => total + BigInt(value.units) * bigPower(scale - value.scale),
    0n,
  );
  return write(divide(sum * bigPower(decimals - scale), BigInt(values.length)), decimals);
}

/** The sum, exactly. */
export function sum(values: readonly Decimal[]): string {
  return written(values.reduce(plus, zero));
}

/** x − y, exactly. */
export function difference(x: Decimal, y: Decimal): string {
  return written(minus(x, y));
}

export const zero: Decimal = { units: 0, scale: 0 };

export function plus(a: Decimal, b: Decimal): Decimal {
  const numbers = alignedNumbers(a, b);
  const scale = Math.max(a.scale, b.scale);
  if (numbers !== null && Number.isSafeInteger(numbers[0] + numbers[1]))
    return { units: numbers[0] + numbers[1], scale };
  const [first, second] = alignedUnits(a, b);
  return { units: first + second, scale };
}

export function minus(a: Decimal, b: Decimal): Decimal {
  return plus(a, { units: -b.units, scale: b.scale });
}

/** As plain digits, without zeros at the end. */
export function written({ units, scale }: Decimal): string {
  return write(BigInt(units), scale);
}

/** Plain digits with at most so many decimals, rounded half away from zero. */
export function rounded(text: string, decimals: number): string {
  const { units, scale } = decimal(text);
  return scale <= decimals ? text : write(divide(BigInt(units), bigPower(scale - decimals)), decimals);
}

/** Positive if a is the greater, negative if b is, 0 if they are equal. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  return Number(minus(a, b).units);
}

/** The two as whole numbers: each times the same power of ten. */
export function alignedUnits(a: Decimal, b: Decimal): [bigint, bigint] {
  const scale = Math.max(a.scale, b.scale);
  return [BigInt(a.units) * bigPower(scale - a.scale), BigInt(b.units) * bigPower(scale - b.scale)];
}

/** A number computed in floating point, with as many significant digits as a computed percentage; '' if it is not finite. */
export function significant(value: number): string {
  if (!Number.isFinite(value)) return '';
  const [digits = '', exponent = ''] = value.toExponential(percentDigits - 1).split('e');
  return write(BigInt(digits.replace('.', '')), percentDigits - 1 - Number(exponent));
}

/** 100 · a / b with `percentDigits` significant digits. */
function percent(a: bigint, b: bigint): string {
  // With this many decimals the quotient has the required number of digits, or one more.
  const decimals = percentDigits - 2 + digitsOf(b) - digitsOf(a);
  const units = scaledQuotient(a, b, decimals + 2);
  if (digitsOf(units) <= percentDigits) return write(units, decimals);
  return write(scaledQuotient(a, b, decimals + 1), decimals - 1);
}

/** The same in floating point; null if it might round differently, or the number is too small or large to be written plainly. */
function quickPercent(a: number, b: number): string | null {
  if (a === 0) return '0';
  const quotient = Math.abs(100 * (a / b));
  if (quotient < 1e-5 || quotient >= 1e15) return null;
  const decimals = percentDigits - 1 - Math.floor(Math.log10(quotient));
  const scaled = decimals >= 0 ? quotient * power(decimals) : quotient / power(-decimals);
  if (scaled < 1e9 || scaled >= 1e10) return null; // the logarithm was rounded to a whole number
  const units = Math.round(scaled);
  // Its error is below 0.00001, so only close to a half could it be rounded differently.
  if (Math.abs(Math.abs(scaled - units) - 0.5) < 0.0001) return null;
  // A number of ten digits, which is also its shortest text.
  const value = decimals >= 0 ? units / power(decimals) : units * power(-decimals);
  return String(a < 0 ? -value : value);
}

/** The mean in whole numbers; null if they are not exact enough. */
function quickMean(values: readonly Decimal[], scale: number, decimals: number): string | null {
  let sum = 0;
  for (const { units, scale: own } of values) {
    if (typeof units !== 'number') return null;
    sum += units * power(scale - own);
    if (!Number.isSafeInteger(sum)) return null;
  }
  const count = values.length;
  const total = Math.abs(sum);
  const rest = (total % count) * power(decimals - scale);
  if (!Number.isSafeInteger(rest)) return null;
  const left = rest % count;
  let [whole, fraction] = [(total - (total % count)) / count, (rest - left) / count];
  if (2 * left >= count) fraction += 1;
  if (fraction === power(decimals - scale)) [whole, fraction] = [whole + 1, 0];
  return plainDigits(`${whole}${String(fraction).padStart(decimals - scale, '0')}`, decimals, sum < 0);
}

/** The units of both at the same scale; null if they are not numbers, or too large for it. */
function alignedNumbers(a: Decimal, b: Decimal): [number, number] | null {
  if (typeof a.units !== 'number' || typeof b.units !== 'number') return null;
  if (a.scale === b.scale) return [a.units, b.units];
  const scale = Math.max(a.scale, b.scale);
  const [first, second] = [a.units * power(scale - a.scale), b.units * power(scale - b.scale)];
  return Number.isSafeInteger(first) && Number.isSafeInteger(second) ? [first, second] : null;
}

/** 10^exponent, exactly; NaN if no number represents it. */
function power(exponent: number): number {
  return powers[exponent] ?? Number.NaN;
}

/** a / b · 10^exponent */
function scaledQuotient(a: bigint, b: bigint, exponent: number): bigint {
  return exponent < 0 ? divide(a, b * bigPower(-exponent)) : divide(a * bigPower(exponent), b);
}

function digitsOf(units: bigint): number {
  return String(units < 0n ? -units : units).length;
}

function bigPower(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

/** The divisor must be positive. */
function divide(dividend: bigint, divisor: bigint): bigint {
  const half = divisor / 2n;
  // An odd divisor has no tie, so truncating its half is correct too.
  return (dividend < 0n ? dividend - half : dividend + half) / divisor;
}

function write(units: bigint, scale: number): string {
  if (scale < 0) return String(units * bigPower(-scale));
  return plainDigits(String(units < 0n ? -units : units), scale, units < 0n);
}

/** @param digits of the units. */
function plainDigits(digits: string, scale: number, isNegative: boolean): string {
  const padded = digits.padStart(scale + 1, '0');
  const whole = padded.slice(0, padded.length - scale).replace(/^0+(?=\d)/, '');
  const fraction = padded.slice(padded.length - scale).replace(/0+$/, '');
  const text = fraction === '' ? whole : `${whole}.${fraction}`;
  return isNegative && text !== '0' ? `-${text}` : text;
}
