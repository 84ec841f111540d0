// Number formats of tables: the meaning of a cell in the style of its table. The digits stay text and never pass through a double.
import { scaled } from './observation-values.ts';

/** How a number below zero is written, other than with a minus before it: (5), 5- or △5. */
export const negativeForms = ['parentheses', 'trailing', 'triangle'] as const;
export type NegativeForm = (typeof negativeForms)[number];
/** The signs of `triangle`. */
export const triangles = '△▲';
const digitsBehindTriangle = new RegExp(String.raw`^[${triangles}]\s*(\d.*)$`);
const textBehindTriangle = new RegExp(String.raw`^[${triangles}]\s*([^-+(].*)$`);

/** The number format of a table, as in almanac.yml. */
export interface NumberStyle {
  decimal?: '.' | ',' | undefined;
  thousands?: string | undefined;
  /** Texts that mean missing. */
  missing?: readonly string[] | undefined;
  /** Marks beside a number, or in its place, → the status that each means; null: none. */
  flags?: Readonly<Record<string, string | null>> | undefined;
  /** Signs after a number → its factor, as K is 1000. */
  multiples?: Readonly<Record<string, string>> | undefined;
  /** Notations of negative numbers besides a leading sign. */
  negative?: readonly NegativeForm[] | undefined;
}

export interface NumberRead {
  /** In PostgreSQL's format; null for missing. */
  value: string | null;
  /** '' if the cell has none. */
  status: string;
}

/** Spaces that separate groups of digits: plain, no-break, figure, thin and narrow no-break. */
export const groupBlanks = '\\u0020\\u00a0\\u2007\\u2009\\u202f';
const minus = /^[-\u2010-\u2015\u2212\ufe63\uff0d]\s*/;
const apostrophes = "'\\u2019\\u02bc\\u00b4`";

/** The signs of one kind that may divide groups, as part of an expression. */
export function groupSigns(thousands: string): string {
  if (thousands === ' ') return `[${groupBlanks}]`;
  return thousands === "'" ? `[${apostrophes}]` : RegExp.escape(thousands);
}

/** Groups of three digits, or of two and a last one of three, as in India. */
export const groupedWhole = (sign: string): string =>
  String.raw`\d{1,3}(?:${sign}\d{3})+|\d{1,2}(?:${sign}\d{2})+${sign}\d{3}`;

/** Texts of numbers by feature, for docs/recognised.md, which lists their detected meaning. */
export const numberExamples: readonly (readonly [what: string, texts: readonly string[]])[] = [
  ['decimal point or comma', ['1234.5', '1234,5']],
  ['groups of three digits', ['1,234,567.8', '1.234,50', '1 234,5', "1'234.5", '1’234.5', '1_234_567']],
  ['groups as in India', ['12,34,567.8']],
  ['three digits behind the only comma', ['1,234']],
  ['sign before', ['-5', '−5', '–5', '- 5', '+5']],
  ['below zero otherwise', ['(1,234.5)', '123.5-', '△5.2', '▲1,234.5']],
  ['exponent', ['1e-05', '2.5E+3']],
  ['currency', ['$ 1,234.5', '-$5', '1.234,50 €', 'Rs. 250.50', 'USD 7']],
  ['percent', ['5 %', '0.5‰', '0.2 pp']],
  ['flag', ['131.0 p', '131.0p', '11.0 bp', '140 [p]', '3(r)', '7.5*', '12.5¹', '12.5 1)', '~40']],
  ['multiple', ['1.2M', '950.5K', '3 bn', '2.5 lakh']],
  ['letters that may be a unit', ['3 kg']],
];

/** @returns the meaning of a cell in the style; undefined if it is neither a number nor a mark of the style. */
export function numberReader(style: NumberStyle): (text: string) => NumberRead | undefined {
  const { decimal = '.', thousands, flags = {}, multiples = {}, negative = [] } = style;
  const missing = new Set(style.missing ?? []);
  const signs = Object.keys(flags).toSorted((a, b) => b.length - a.length);
  const factors = Object.keys(multiples).toSorted((a, b) => b.length - a.length);
  const plain = plainReader(decimal, thousands);
  const signed = (text: string): string | undefined => {
    const sign = /^\+\s*/.exec(text)?.[0] ?? '';
    const negated = minus.exec(text)?.[0] ?? '';
    const digits = plain(text.slice(Math.max(sign.length, negated.length)));
    return digits === undefined ? undefined : `${negated === '' ? '' : '-'}${digits}`;
  };
  const negatable = (text: string): string | undefined => {
    const inside = negative.includes('parentheses') ? /^\(\s*(.*?)\s*\)$/.exec(text)?.[1] : undefined;
    const before = negative.includes('trailing') ? /^(\d(?:.*?\d)?)\s*[-\u2212]$/.exec(text)?.[1] : undefined;
    const behind = negative.includes('triangle') ? digitsBehindTriangle.exec(text)?.[1] : undefined;
    const digits = plain(inside ?? before ?? behind ?? '');
    return digits === undefined ? signed(text) : `-${digits}`;
  };
  /** With the minus first, as marks of a number may be inside its parentheses, (5 %), or before its minus, 5%-. */
  const signedFirst = (text: string): string | undefined => {
    const inside = negative.includes('parentheses') ? /^\(\s*([^-+(].*?)\s*\)$/.exec(text)?.[1] : undefined;
    const before = negative.includes('trailing') ? /^([^-+(].*?)\s*[-\u2212]$/.exec(text)?.[1] : undefined;
    const behind = negative.includes('triangle') ? textBehindTriangle.exec(text)?.[1] : undefined;
    const number = inside ?? before ?? behind;
    return number === undefined ? undefined : `-${number}`;
  };
  const multiplied = (text: string): string | undefined => {
    const factor = factors.find((each) => text.endsWith(each));
    if (factor === undefined) return negatable(text);
    const number = negatable(text.slice(0, -factor.length).trimEnd());
    return scaled(number, multiples[factor]) ?? undefined;
  };
  const unflagged = (text: string): NumberRead | undefined => {
    if (missing.has(text)) return { value: null, status: '' }; // a number such as -999 may be listed, too
    const number = multiplied(text);
    return number === undefined ? undefined : { value: number, status: '' };
  };
  return (cell) => {
    const text = cell.trim();
    if (text === '') return { value: null, status: '' };
    const known = unflagged(text);
    if (known !== undefined) return known;
    if (Object.hasOwn(flags, text)) return { value: null, status: flags[text] ?? '' };
    let rest = text;
    const statuses: string[] = [];
    // Two signs may follow each other: 5.2 % p.
    for (let count = 0; count < 4; count++) {
      // A minus or a parenthesis may precede a currency: -$5, ($5).
      const lead = /^[-+(\u2010-\u2015\u2212]?\s*/.exec(rest)?.[0] ?? '';
      const behind = rest.slice(lead.length);
      const sign = signs.find((each) => rest.endsWith(each) || behind.startsWith(each));
      if (sign === undefined) {
        const turned = signedFirst(rest);
        if (turned === undefined) return undefined;
        rest = turned;
        continue;
      }
      rest = (
        rest.endsWith(sign) ? rest.slice(0, -sign.length) : `${lead}${behind.slice(sign.length).trim()}`
      ).trim();
      const status = flags[sign] ?? '';
      if (status !== '' && !statuses.includes(status)) statuses.push(status);
      const found = unflagged(rest);
      if (found !== undefined) return { value: found.value, status: statuses.join(',').slice(0, 16) };
    }
    return undefined;
  };
}

/** Digits without a sign, in the style, converted to PostgreSQL's format. */
function plainReader(decimal: string, thousands: string | undefined): (text: string) => string | undefined {
  const mark = RegExp.escape(decimal);
  const fraction = String.raw`(?:${mark}\d*)?(?:[eE][+-]?\d{1,3})?`;
  const plain = new RegExp(String.raw`^(?:\d+${fraction}|${mark}\d+(?:[eE][+-]?\d{1,3})?)$`);
  const sign = thousands === undefined ? null : groupSigns(thousands);
  const grouped = sign === null ? null : new RegExp(`^(?:${groupedWhole(sign)})${fraction}$`);
  const everySign = sign === null ? null : new RegExp(sign, 'g');
  return (text) => {
    let digits = text;
    if (grouped !== null && everySign !== null && grouped.test(digits))
      digits = digits.replaceAll(everySign, '');
    if (!plain.test(digits) || digits.length > 100) return undefined;
    return decimal === ',' ? digits.replace(',', '.') : digits;
  };
}
