// How numbers are written: groups, decimal mark, sign, currency, percent, exponent; and how they lie in a workbook.
import type { Cell, Question } from './office-file.ts';
import type { Random } from './random.ts';

export interface NumberForm {
  name: string;
  /** @param value digits with a point, as `-1234.50`. */
  write: (value: string) => string;
  /** In a workbook: a number with this format; undefined: a text. */
  format?: string;
  /** Each value in a workbook is this part of the published one. */
  percent?: boolean;
  /** A workbook has the error of a computation in the 17th digit. */
  noise?: boolean;
  /** The open question of a text of this form, if its value is not just its digits. */
  question?: Question;
}

const groups: Readonly<Record<string, (digits: string) => string>> = {
  none: (digits) => digits,
  comma: (digits) => inThrees(digits, ','),
  point: (digits) => inThrees(digits, '.'),
  blank: (digits) => inThrees(digits, ' '),
  'U+00A0': (digits) => inThrees(digits, '\u00a0'),
  'U+202F': (digits) => inThrees(digits, '\u202f'),
  'U+2009': (digits) => inThrees(digits, '\u2009'),
  'U+2007': (digits) => inThrees(digits, '\u2007'),
  "'": (digits) => inThrees(digits, "'"),
  '’': (digits) => inThrees(digits, '’'),
  Indian: (digits) => digits.replace(/(?<=\d)(?=(?:\d\d)*\d{3}$)/g, ','),
};
const inThrees = (digits: string, sign: string) => digits.replace(/(?<=\d)(?=(?:\d{3})+$)/g, sign);

const negatives: Readonly<Record<string, (number: string) => string>> = {
  '-': (number) => `-${number}`,
  'U+2212': (number) => `\u2212${number}`,
  'en dash': (number) => `–${number}`,
  '- 5': (number) => `- ${number}`,
  parentheses: (number) => `(${number})`,
  trailing: (number) => `${number}-`,
};

interface Parts {
  group: string;
  decimal: '.' | ',';
  negative: string;
  before: string;
  behind: string;
  plus: boolean;
}

const commaLanguages = new Set(
  'de fr es it pt nl sv da nb fi et lv lt pl cs sk sl hr hu ro bg el tr ru id'.split(' '),
);

export function numberForm(random: Random, language: string, hasNegatives: boolean): NumberForm {
  const decimal = commaLanguages.has(language) && random.chance(0.6) ? ',' : '.';
  const group = random.chance(0.5)
    ? 'none'
    : random.pick(Object.keys(groups).filter((name) => isOther(name, decimal)));
  const negative = random.chance(0.5) || !hasNegatives ? '-' : random.pick(Object.keys(negatives));
  const currency = random.chance(0.06) ? random.pick(['$', '$ ', '£', '€ ', 'R$ ', 'Rs. ', 'US$ ', '¥']) : '';
  const behind =
    currency === '' && random.chance(0.06) ? random.pick(['%', ' %', ' €', '\u00a0€', ' zł']) : '';
  const plus = currency === '' && hasNegatives && random.chance(0.08);
  const parts: Parts = { group, decimal, negative, before: currency, behind, plus };
  const name = [
    ...(group === 'none' ? [] : [`groups by ${group}`]),
    ...(decimal === ',' ? ['decimal comma'] : []),
    ...(negative === '-' ? [] : [`negative ${negative}`]),
    ...(currency + behind === '' ? [] : [`with ${(currency + behind).trim()}`]),
    ...(plus ? ['with plus'] : []),
  ];
  return { name: name.join(', ') || 'plain', write: (value) => written(value, parts) };
}

const isOther = (group: string, decimal: string) =>
  !(decimal === ',' && ['comma', 'Indian'].includes(group)) && !(decimal === '.' && group === 'point');

function written(value: string, { group, decimal, negative, before, behind, plus }: Parts): string {
  const isNegative = value.startsWith('-');
  const [whole = '', fraction] = value.replace('-', '').split('.');
  const grouped = (groups[group] ?? String)(whole);
  const number = `${before}${grouped}${fraction === undefined ? '' : decimal + fraction}${behind}`;
  if (isNegative) return (negatives[negative] ?? String)(number);
  return plus && Number(value) > 0 ? `+${number}` : number;
}

export const plainNumbers: NumberForm = { name: 'plain', write: String };

/** Small numbers with an exponent, as programs print them. */
export const exponents: NumberForm = {
  name: 'exponents',
  write: (value) =>
    Number(value) !== 0 && Math.abs(Number(value)) < 0.001
      ? Number(value)
          .toExponential()
          .replace(/e-(\d)$/, 'e-0$1')
      : value,
};

/** Some with a sign of percent, and others without. */
export const somePercent: NumberForm = {
  name: '5 % beside 5',
  write: (value) => (/[02468]$/.test(value) ? `${value} %` : value),
  question: 'numbers',
};

/** As a cell; a workbook has a number, unless the form is one of texts. */
export function numberCell(value: string, form: NumberForm): Cell {
  const text = form.write(value);
  if (form.format === undefined) return { text };
  const part = form.percent === true ? Number((Number(value) / 100).toPrecision(15)) : Number(value);
  const number = form.noise === true ? part * (1 + Number.EPSILON) : part;
  return { text, number, format: form.format };
}

/** The form of true numbers in a workbook: their texts are as a program shows them. */
export function workbookNumbers(random: Random, decimals: number): NumberForm {
  const tail = decimals === 0 ? '' : `.${'0'.repeat(decimals)}`;
  return random.weighted<NumberForm & { weight: number }>([
    { weight: 1, name: 'computed numbers of a workbook', write: String, format: 'General', noise: true },
    { weight: 5, name: 'numbers of a workbook', write: String, format: 'General' },
    { weight: 3, name: 'numbers of a workbook, #,##0', write: String, format: `#,##0${tail}` },
    {
      weight: 1,
      name: 'percentages of a workbook',
      write: (v: string) => `${v}%`,
      format: `0${tail}%`,
      percent: true,
    },
  ]);
}

/** Whether all texts with a sign could group digits or begin a fraction. A sign is a point or a comma. */
export function isSignOpen(texts: readonly string[]): boolean {
  const bare = texts.map((text) => text.replace('Rs.', '').replaceAll(/[^\d.,]/g, ''));
  const withSign = bare.filter((text) => /[.,]/.test(text));
  if (withSign.length === 0) return false;
  const signs = new Set(withSign.flatMap((text) => text.match(/[.,]/g) ?? []));
  return signs.size === 1 && withSign.every((text) => /^[1-9]\d{0,2}[.,]\d{3}$/.test(text));
}
