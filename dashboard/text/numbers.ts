// Numbers as people read them: thousands separators, a true minus sign, and as many digits as were published.
import { zerosBefore } from '../../domain/chart/text.ts';
import { nounOf } from '../../kernel/text/counted.ts';

/** `digits`: fixed; absent: those of the number. */
export function numberText(value: number, digits?: number): string {
  const options =
    digits === undefined
      ? { maximumFractionDigits: Math.min(100, 12 + zerosBefore(Math.abs(value))) }
      : { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const text = value.toLocaleString('en-GB', options);
  return /[1-9]/.test(text) ? text.replace('-', '−') : text.replace('-', '');
}

/** With its sign: `+0.4`, `−0.2`, `0`. */
export function changeText(value: number, digits?: number): string {
  const text = numberText(value, digits);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** `1 series`, `1,128 series`. @param many the plural, if it is not `one` with an s. */
export function countText(count: number, one: string, many?: string): string {
  return `${numberText(count)} ${nounOf(count, one, many)}`;
}
