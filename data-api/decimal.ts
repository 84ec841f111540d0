// Exact decimals, as they are published: no value goes through a binary fraction on its way to the client.
// Hides BigInt. A quotient is rounded half away from zero; zeros at the end of a computed number are dropped.
import { percentDigits } from '../domain/percent.ts';

/** units · 10^−scale */
export interface Decimal {
  units: bigint;
  scale: number;
}

/** Parses plain digits, such as `-12.340`, as PostgreSQL writes a numeric. */
export function decimal(text: string): Decimal {
  const point = text.indexOf('.');
  if (point < 0) return { units: BigInt(text), scale: 0 };
  return { units: BigInt(text.slice(0, point) + text.slice(point + 1)), scale: text.length - point - 1 };
}

/** (x / base − 1) · 100, rounded as computed percentages are; null if the base is not positive. */
export function percentChange(x: Decimal, base: Decimal): string | null {
  if (base.units <= 0n) return null;
  const [a, b] = alignedUnits(x, base);
  return percent(a - b, b);
}

/** 100 · x / base, rounded as computed percentages are; null if the base is not positive. */
export function percentOf(x: Decimal, base: Decimal): string | null {
  if (base.units <= 0n) return null;
  return percent(...alignedUnits(x, base));
}

/** The arithmetic mean, with `decimalsMin` decimals, or four more than the values have if that is more. */
export function mean(values: readonly Decimal[], decimalsMin: number): string {
  const scale = Math.max(...values.map((value) => value.scale));
  const decimals = Math.max(decimalsMin, scale + 4);
  const sum = values.reduce((total, value) => total + value.units * power(scale - value.scale), 0n);
  return write(divide(sum * power(decimals - scale), BigInt(values.length)), decimals);
}

/** 100 · a / b with `percentDigits` significant digits. */
function percent(a: bigint, b: bigint): string {
  // With this many decimals the quotient has the required number of digits, or one more.
  const decimals = percentDigits - 2 + digitsOf(b) - digitsOf(a);
  const units = scaledQuotient(a, b, decimals + 2);
  if (digitsOf(units) <= percentDigits) return write(units, decimals);
  return write(scaledQuotient(a, b, decimals + 1), decimals - 1);
}

/** a / b · 10^exponent */
function scaledQuotient(a: bigint, b: bigint, exponent: number): bigint {
  return exponent < 0 ? divide(a, b * power(-exponent)) : divide(a * power(exponent), b);
}

function digitsOf(units: bigint): number {
  return String(units < 0n ? -units : units).length;
}

function alignedUnits(a: Decimal, b: Decimal): [bigint, bigint] {
  const scale = Math.max(a.scale, b.scale);
  return [a.units * power(scale - a.scale), b.units * power(scale - b.scale)];
}

function power(exponent: number): bigint {
  return 10n ** BigInt(exponent);
}

/** The divisor must be positive. */
function divide(dividend: bigint, divisor: bigint): bigint {
  const half = divisor / 2n;
  // An odd divisor has no tie, so truncating its half is correct too.
  return (dividend < 0n ? dividend - half : dividend + half) / divisor;
}

function write(units: bigint, scale: number): string {
  if (scale < 0) return String(units * power(-scale));
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = digits.slice(digits.length - scale).replace(/0+$/, '');
  const text = fraction === '' ? whole : `${whole}.${fraction}`;
  return units < 0n ? `-${text}` : text;
}
