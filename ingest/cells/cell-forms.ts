// Classifies a cell without its table: a number in some form, a bound, a mark in place of a number, or a word.
import { groupBlanks, triangles, type NegativeForm } from './numbers/number-formats.ts';

/** The parts of a number of any form. */
export interface NumberCell {
  kind: 'number';
  /** The digits with their separators and their own sign, as written. */
  core: string;
  /** Signs beside the digits, such as `%`, `$`, `p` and `~`. */
  signs: string[];
  negative: NegativeForm | null;
  /** `K`, `mn` and the like behind the digits; null for none. */
  multiple: string | null;
}

export type Cell = NumberCell | { kind: 'blank' } | { kind: 'bound' } | { kind: 'mark' } | { kind: 'word' };

const blank: Cell = { kind: 'blank' };
const bound: Cell = { kind: 'bound' };
const mark: Cell = { kind: 'mark' };
const word: Cell = { kind: 'word' };

/** Signs and codes of currencies beside amounts; longer ones first. */
export const currencySigns: readonly string[] = [
  'US$', 'A$', 'C$', 'HK$', 'NZ$', 'S$', 'R$', 'NT$', 'Mex$', '$', '€', '£', '¥', '₹', '₽', '₩', '₺', '₴', '₦', '₱', '฿', '₫', '₪', '₸', '₼', '₾', 'Rs.', 'Rs',
  'INR', 'PKR', 'USD', 'EUR', 'GBP', 'JPY', 'CHF', 'CNY', 'BRL', 'AUD', 'CAD', 'SEK', 'NOK', 'DKK', 'PLN', 'CZK', 'HUF', 'RON', 'BGN', 'TRY', 'RUB', 'UAH',
  'IDR', 'MYR', 'MXN', 'ZAR', 'EGP', 'NGN', 'KES', 'KRW', 'Kč', 'zł', 'Ft', 'kr.', 'kr', 'lei', 'лв.', 'лв', 'руб.', 'руб',
]; // prettier-ignore
const currency = `(?:${currencySigns.map((each) => RegExp.escape(each)).join('|')})`;
/**
 * Marks in place of a number: most mean that it is missing, suppressed, not yet known or not applicable. The examples are for
 * docs/recognised.md.
 */
const marks: readonly (readonly [examples: readonly string[], expression: string])[] = [
  [['n.a.', 'NA', 'NaN'], String.raw`n\.?\s?a\.?n?\.?`],
  [['n/a', 'N/E'], String.raw`n\.?[/\\]\.?[a-z]\.?`],
  [['#N/A'], '#n\\/a'],
  [['#DIV/0!', '#VALUE!', '#REF!', '#NAME?', '#NUM!', '#NULL!'], String.raw`#(?:div\/0!|value!|ref!|name\?|num!|null!)`],
  [['null', 'none', 'nil', 'nd', 'n.d.', 'n.v.', 'k.A.', 's.o.'], String.raw`nan|null|none|nil|nd|n\.d\.|n\.v\.|k\.\s?a\.?|s\.\s?o\.?`],
  [['nc', 'n.e.', 'n.e.c'], String.raw`nc|n\.?e\.?c?`],
  [['not available', 'not applicable', 'not reported', 'not collected', 'not published'], 'not (?:available|applicable|reported|collected|published)'],
  [['no data', 'data not available', 'missing', 'nav'], 'no data|data not available|missing|nav'],
  [['suppressed', 'confidential', 'secret'], 'suppressed|confidential|secret'],
  [['no disponible', 'no aplica', 'keine Angabe', 'non disponible'], 'no disponible|no aplica|keine angaben?|non disponible'],
  [['-', '–', '—', '.', '..', '...', '…', ':'], String.raw`-+|[\u2010-\u2015]+|\.+|…|:+`],
  [['*', '^', '@', '#', '~', '†', '/'], String.raw`[*^@#$~†‡§/\\]{1,3}`],
  [['?'], String.raw`\?`],
  [['x', 'c', 'u', 'z', 's', 'd', 'f'], '[xuczsdf.:]'],
  [['[c]', '[low]', '(D)', '{x}'], String.raw`[[({]\s?[a-z/*.-]{1,6}\s?[\])}]`],
]; // prettier-ignore
const markText = new RegExp(`^(?:${marks.map(([, expression]) => expression).join('|')})$`, 'i');
export const markExamples: readonly string[] = marks.flatMap(([examples]) => examples);
/** Less than, at least: a bound is not a value. */
const bounds = ['<', '>', '≤', '≥', '<=', '>=', 'under ', 'less than ', 'fewer than ', 'over ', 'more than '];
const boundText = new RegExp(String.raw`^(?:${bounds.join('|')})\s?\d[\d.,]*\s?%?$`, 'i');
export const boundExamples: readonly string[] = bounds.map((each) => `${each}5`);
const digitsText = `(?:\\d[\\d.,'\\u2019\\u02bc\\u00b4\`_${groupBlanks}]*\\d|\\d)[.,]?|[.,]\\d+`;
const sign = `[-+\\u2010-\\u2015\\u2212\\ufe63\\uff0d${triangles}]`;
const approximate = '(?:~|≈|c(?:a|irca)?\\.?|about|approx\\.?)';
const multipleText =
  '(?:[KMBT]|mn|mln|mio\\.?|bn|bln|mrd\\.?|mld|tn|trn|thousand|million|billion|trillion|lakh|lac|crore|cr)';
const flagText = '(?:[a-z]{1,3}|[\\[({][a-z0-9*/]{1,5}[\\])}]|[*†‡§#^⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|[\\da-z][)/])';
const numberText = new RegExp(
  `^(?<lead>${currency}|${approximate})?\\s?(?<open>\\()?\\s?(?<sign>${sign}\\s?)?(?<before>${currency}|${approximate}|[*†‡])?\\s?(?<sign2>${sign}\\s?)?(?<core>${digitsText})(?<exponent>[eE][+-]?\\d{1,3})?` +
    `\\s?(?<percent>%|‰|p\\.?p\\.?|${currency})?(?<close>\\))?(?<trailing>[-\\u2212](?=$|\\s))?\\s?(?<rest>.*)$`,
  'iu',
);
const flagExpression = new RegExp(`^${flagText}$`, 'i');
const unitExpression = new RegExp(`^(?:%|‰|p\\.?p\\.?|${currency})$`, 'iu');
const multipleExpression = new RegExp(`^${multipleText}$`);

const cachedMax = 200_000;
const cached = new Map<string, Cell>();

/** The possible meanings of the text of a cell. */
export function cellOf(text: string): Cell {
  // Most cells are plain numbers, and a lookup costs more than this test.
  if (/^-?\d{1,15}(?:\.\d{1,12})?$/.test(text))
    return { kind: 'number', core: text, signs: [], negative: null, multiple: null };
  const known = cached.get(text);
  if (known !== undefined) return known;
  if (cached.size >= cachedMax) cached.clear();
  const found = examined(text.trim());
  cached.set(text, found);
  return found;
}

function examined(text: string): Cell {
  if (text === '') return blank;
  if (text.length > 60) return word;
  if (markText.test(text)) return mark;
  if (!/\d/.test(text)) return flaggedMark(text) ? mark : word;
  if (boundText.test(text)) return bound;
  const [, noted, note] = /^([^(]*\d)\s+(\d[)/])$/.exec(text) ?? [];
  if (noted !== undefined && note !== undefined) {
    const number = examined(noted);
    return number.kind === 'number' ? { ...number, signs: [...number.signs, note] } : word;
  }
  const groups = numberText.exec(text)?.groups;
  if (groups === undefined) return flaggedMark(text) ? mark : word;
  const {
    lead: outside,
    open,
    sign: first,
    before,
    sign2,
    core = '',
    exponent = '',
    percent,
    close,
    trailing,
    rest = '',
  } = groups;
  if ((open === undefined) !== (close === undefined)) return word;
  if (first !== undefined && sign2 !== undefined) return word;
  const parts = rest === '' ? [] : rest.split(/\s+/);
  const multiple = parts.find((part) => multipleExpression.test(part)) ?? null;
  const flags = parts.filter((part) => part !== multiple);
  if (flags.length > 2 || !flags.every((flag) => flagExpression.test(flag) || unitExpression.test(flag)))
    return word;
  // 125,- is 125 without decimals.
  if (trailing !== undefined && /[.,]$/.test(core)) return word;
  const lead = (first ?? sign2 ?? '').trim();
  const isTriangle = lead !== '' && triangles.includes(lead);
  if (isTriangle && (open ?? trailing) !== undefined) return word;
  return {
    kind: 'number',
    core: `${isTriangle ? '' : lead}${core}${exponent}`,
    signs: [outside ?? '', before ?? '', percent ?? '', ...flags].filter((each) => each !== ''),
    negative: isTriangle
      ? 'triangle'
      : open !== undefined
        ? 'parentheses'
        : trailing !== undefined
          ? 'trailing'
          : null,
    multiple,
  };
}

/** `: c` and `.. p`: a mark of a missing number with its status. */
const flaggedMark = (text: string): boolean => /^(?:[:.…–-]+)\s+[a-z]{1,3}$/i.test(text);

export const isNumberText = (text: string): boolean => cellOf(text).kind === 'number';
/** Whether a cell is a number, a mark or a bound. */
export const isValueText = (text: string): boolean => ['number', 'bound', 'mark'].includes(cellOf(text).kind);
