// The texts of a chart: numbers and periods for people, estimated widths, and escaping for XML. Widths are estimated because no font is
// available where a chart is made.
import { fromDayNumber } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import type { Frequency } from '../periods.ts';

const monthNames = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December']; // prettier-ignore

/** The name of a month. @param month from 1. */
export function monthName(month: number, isShort = false): string {
  const name = entryAt(monthNames, month - 1);
  return isShort ? name.slice(0, 3) : name;
}

/** A number with thousands separators, that many decimals and a true minus sign; from 1e15 on with an exponent. */
export function formatNumber(value: number, decimals: number): string {
  if (Math.abs(value) >= 1e15) return value.toExponential().replaceAll('-', '\u{2212}').replace('+', '');
  const [whole = '', fraction] = Math.abs(value).toFixed(Math.min(decimals, formattedMax)).split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  const digits = fraction === undefined ? grouped : `${grouped}.${fraction}`;
  return value < 0 && /[1-9]/.test(digits) ? `\u{2212}${digits}` : digits;
}

/** Units that count by a power of ten already: `USD, millions`, `Billions of dollars`, `PKR bn`, `10^6 t`. */
const scaledUnit = /thousand|million|billion|trillion|lakh|crore|10\^|\b(?:k|mn|mln|bn|tn|trn)\b/i;

/**
 * A number at an axis, as short as it can be: from a billion on `1,000 billion`, or `1e12` where the unit names a power of ten itself or
 * the numbers reach 1e15.
 * @param decimals of the numbers of the axis; negative where they are multiples of a power of ten.
 * @param size the largest number of the axis, without its sign: all numbers of an axis are written alike.
 */
export function axisNumber(
  value: number,
  { decimals, size, unit }: { decimals: number; size: number; unit: string },
): string {
  if (size < 1e9 || value === 0) return formatNumber(value, Math.max(0, decimals));
  if (size < 1e15 && !scaledUnit.test(unit))
    return `${formatNumber(value / 1e9, Math.max(0, decimals + 9))} billion`;
  const exact = Number(value.toPrecision(15)); // without the noise of a sum in floating point
  return exact.toExponential().replaceAll('-', '\u{2212}').replace('+', '');
}

/** The decimals that show every value in full, at most six; numbers that are all below 0.1 have `zerosBefore` more. */
export function decimalsOf(values: Iterable<number>): number {
  let [decimals, largest] = [0, 0];
  for (const value of values) {
    largest = Math.max(largest, Math.abs(value));
    if (decimals >= decimalsMax || Number.isInteger(value)) continue;
    const [digits = '', exponent = '0'] = String(Math.abs(value)).split('e');
    decimals = Math.max(decimals, (digits.split('.')[1]?.length ?? 0) - Number(exponent));
  }
  return Math.min(decimals, decimalsMax + zerosBefore(largest), formattedMax);
}
const decimalsMax = 6;
/** Of `formatNumber`. */
const formattedMax = 20;

/** The zeros between the point and the first digit: 2 of 0.0034. */
export function zerosBefore(value: number): number {
  return value === 0 || value >= 0.1 ? 0 : -Math.floor(Math.log10(value)) - 1;
}

/** The period that ends on the date, in words: `November 2020`, `Q3 2020`, `15 December 2020`. */
export function periodName(date: string, frequency: Frequency, isShort = false): string {
  const year = String(Number(date.slice(0, 4)));
  const month = Number(date.slice(5, 7));
  if (frequency === 'annual') return year;
  if (frequency === 'semiannual') return `H${month <= 6 ? 1 : 2} ${year}`;
  if (frequency === 'quarterly') return `Q${Math.ceil(month / 3)} ${year}`;
  const named = `${monthName(month, isShort)} ${year}`;
  return frequency === 'monthly' ? named : `${Number(date.slice(8, 10))} ${named}`;
}

/** A day, as `15 Dec 2020`. */
export function dayName(dayNumber: number): string {
  return periodName(fromDayNumber(dayNumber), 'daily', true);
}

/** Text as XML character data or an attribute value; characters that XML 1.0 cannot hold become U+FFFD. */
export function escapeXml(text: string): string {
  return (
    text
      .toWellFormed()
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\u{fffd}')
      .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  );
}

/** The approximate width of a text in pixels at 12 px; never much less than the actual width. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** The same of bold text, in the widest of the usual fonts. */
export function boldWidthOf(text: string): number {
  return widthOf(text) * 1.16;
}

function characterWidth(character: string): number {
  if (/[iljtfrI.,:;'|!() ]/.test(character)) return 4.2;
  if (/[mwMW@%\u{2014}]/u.test(character)) return 11;
  if (/[\u{1100}-\u{11ff}\u{2e80}-\u{d7ff}\u{f900}-\u{faff}\u{ff00}-\u{ffef}]|[\u{1f000}-\u{3ffff}]/u.test(character)) return 13; // prettier-ignore
  return /\p{Lu}/u.test(character) ? 8.6 : 7.2;
}

/** The text, cut with an ellipsis where it is wider than allowed. */
export function fitted(text: string, widthMax: number): string {
  if (widthOf(text) <= widthMax) return text;
  let fitting = '';
  for (const character of text) {
    if (widthOf(`${fitting}${character}\u{2026}`) > widthMax) break;
    fitting += character;
  }
  return `${fitting.trimEnd()}\u{2026}`;
}

/** The end of the text, after an ellipsis, where it is wider than allowed. */
export function fittedEnd(text: string, widthMax: number): string {
  if (widthOf(text) <= widthMax) return text;
  let fitting = '';
  for (const character of Array.from(text).toReversed()) {
    if (widthOf(`\u{2026}${character}${fitting}`) > widthMax) break;
    fitting = character + fitting;
  }
  return `\u{2026}${fitting.trimStart()}`;
}
