// Parses a cell of a file by the type of its column into PostgreSQL's format, or rejects it with the expected form. numbers/ and dates/
// parse numbers and dates by the options of the load.
import { codeShapes, partnerCode, securityCode, tenor } from '../../domain/markets.ts';
import { readDims } from '../../domain/dims-text.ts';
import { isTimeZone } from '../../kernel/clock.ts';
import { isDate, type DateRange } from '../../kernel/dates.ts';
import { frequencies } from '../../domain/periods.ts';
import { isSeriesId } from '../../domain/series-id.ts';
import { dateReader, type DateReader } from './dates/date-patterns.ts';
import { scaled, valueReader, type ValueOptions, type ValueReader } from './numbers/observation-values.ts';

export type ColumnType =
  | 'text'
  | 'series_id'
  | 'frequency'
  | 'date'
  | 'point_date' // a day or a period, in `series_id` of the row: stored as the date of its point
  | 'number'
  | 'integer'
  | 'boolean'
  | 'word' // one of `words`
  | 'slug'
  | 'city' // a slug, but not of an average over cities
  | 'instant' // local time in the row's time_zone, or with its own offset
  | 'time_zone'
  | 'url'
  | 'https_url'
  | 'currency'
  | 'coicop'
  | 'security_code' // normalised by domain/markets.ts
  | 'isin'
  | 'tenor'
  | 'country'
  | 'partner'
  | 'commodity_code'
  | 'month_or_year'
  | 'time'
  | 'month_day' // MM-DD
  | 'dims' // dimension values, side:buy,city:Lahore
  | 'list'; // text parts divided by ;

export interface Column {
  name: string;
  type: ColumnType;
  required: boolean;
  meaning: string;
  /** The maximum number of characters, for text. */
  lengthMax?: number;
  /** The allowed values, for a word. */
  words?: readonly string[];
  /** The column whose text is used, unchanged, if this one is missing or its cell is empty. */
  copyOf?: string;
  /** A date or period of a past event: today's is the last that is accepted. */
  hasHappened?: boolean;
  /** The meaning of an empty cell, or of a file without the column. For a part of the key. */
  unlessGiven?: string;
  /** For a number: zero or less means missing. */
  zeroIsMissing?: boolean;
  /** Ids that already have another meaning. */
  reserved?: readonly string[];
  /** Both inclusive, for numbers and integers. */
  range?: readonly [least: number, most: number];
}

const slugLengthMax = 80;
/** The maximum length of a name from which an id is made. */
const nameLengthMax = 200;

/** How the file writes numbers and dates. */
export interface CellOptions extends ValueOptions {
  /** Such as `DD/MM/YYYY`; dates/date-patterns.ts has the syntax. */
  dateFormat?: string;
  /** Column of numbers → the factor of its numbers. */
  multiply?: Readonly<Record<string, string>>;
}

interface Forms {
  options: CellOptions;
  values: ValueReader;
  dates: DateReader;
}

interface CellType {
  /** The cell in PostgreSQL's format; undefined if it does not match the type. */
  read: (text: string, column: Column, forms: Forms) => string | undefined;
  expected: (column: Column, options: CellOptions) => string;
}

const cellTypes: Record<ColumnType, CellType> = {
  text: {
    read: (text, { lengthMax = Infinity }) =>
      text.length <= lengthMax && isPrintable(text) ? text : undefined,
    expected: ({ lengthMax }) =>
      lengthMax === undefined ? 'text' : `text of at most ${lengthMax} characters`,
  },
  series_id: keptIf(
    isSeriesId,
    'a series id: letters, digits, . _ and -, at most 128, beginning with a letter or digit',
  ),
  frequency: {
    read: (text) => frequencies.find((frequency) => frequency === text.toLowerCase()),
    expected: () => `one of ${frequencies.join(', ')}`,
  },
  date: {
    read: (text, _, { dates }) => dayOf(dates(text)),
    expected: (_, { dateFormat }) =>
      dateFormat === undefined ? 'a date, YYYY-MM-DD' : `a day, ${dateFormat}`,
  },
  point_date: {
    read: (text, _, { dates }) => (dates(text) === null ? undefined : text), // only a query can parse it in its series
    expected: (_, { dateFormat = 'YYYY-MM-DD, YYYY-MM, YYYY-Qn or YYYY' }) =>
      `a day or a period of the series, ${dateFormat}`,
  },
  number: {
    read: (text, column, { values, options }) => {
      const number = scaled(values(text), options.multiply?.[column.name]) ?? '';
      return boundedNumber.test(number) && isWithin(column, number) ? number : undefined;
    },
    expected: (column, options) => `a number${withinText(column)}${signsText(options)}`,
  },
  integer: {
    read: (text, column, { values }) => {
      const number = values(text) ?? '';
      return /^[+-]?\d{1,15}$/.test(number) && isWithin(column, number) ? number : undefined;
    },
    expected: (column, options) => `a whole number${withinText(column)}${signsText(options)}`,
  },
  boolean: {
    read: (text) => booleans.get(text.toLowerCase()),
    expected: () => 'true or false',
  },
  word: {
    read: (text, { words }) => words?.find((word) => word === text.toLowerCase()),
    expected: ({ words = [] }) => `one of ${words.join(', ')}`,
  },
  slug: {
    read: (text, { reserved = [] }) => {
      const slug = slugOf(text);
      return slug === undefined || reserved.includes(slug) ? undefined : slug;
    },
    expected: (column) =>
      `an id (lower-case letters and digits, - between words, at most ${slugLengthMax}), or a name to make it of` +
      reservedText(column),
  },
  city: {
    read: (text) => {
      const slug = slugOf(text);
      return slug === undefined || isOverCities(slug) ? undefined : slug;
    },
    expected: () =>
      'the id or name of one city; an average over cities is not a city, and the API computes it: leave such rows out by ' +
      '--skip-where column=value, or map it to a city with --map-value column=value=city',
  },
  instant: {
    read: (text, _, { dates }) => instantOf(text, dates),
    expected: (_, { dateFormat = 'YYYY-MM-DD' }) =>
      `a local time, ${dateFormat} HH:MM, or one with an offset such as +05:00 or Z, or a day alone`,
  },
  time_zone: keptIf(
    isTimeZone,
    'an IANA time zone such as Asia/Karachi, or UTC (or --ignore the column and --set time_zone=…)',
  ),
  url: keptIf(
    (text) => /^https?:\/\/\S{1,1990}$/.test(text) && URL.canParse(text),
    'a URL that begins with http:// or https://',
  ),
  https_url: keptIf(isHttpsUrl, 'a URL that begins with https://, without a user name or password'),
  currency: inCapitals(codeShapes.currency, 'an ISO 4217 code such as PKR'),
  coicop: keptIf((text) => /^\d{2}(?:\.\d{1,2}){0,4}$/.test(text), 'a COICOP code such as 01.1.1.1'),
  security_code: {
    read: (text, { reserved = [] }) => {
      const code = securityCode(text);
      return /^[A-Z0-9][A-Z0-9._+&-]{0,63}$/.test(code) && !reserved.includes(code) ? code : undefined;
    },
    expected: (column) =>
      'a code of at most 64 letters, digits and . _ + & - (slashes and blanks are kept as hyphens)' +
      reservedText(column),
  },
  isin: {
    read: (text) => (isIsin(text.toUpperCase()) ? text.toUpperCase() : undefined),
    expected: () => 'an ISIN: two letters, nine letters or digits, and the check digit that they give',
  },
  tenor: {
    read: tenor,
    expected: () => 'a tenor such as 13W, 3M, 10Y, 3-Month, 10-Year or 9-Year 10-Month',
  },
  country: inCapitals(codeShapes.country, 'an ISO 3166 code of three letters such as PAK'),
  partner: {
    read: (text) => {
      const code = partnerCode(text);
      return codeShapes.partner.test(code) ? code : undefined;
    },
    expected: () => 'an ISO 3166 code of three letters such as PAK, or WLD for the world',
  },
  commodity_code: inCapitals(
    codeShapes.commodity,
    'a code of the classification with its leading zeros such as 0101, or TOTAL',
  ),
  month_or_year: {
    read: (text, _, { dates, options }) => {
      const compact = options.dateFormat === undefined ? text.replace(/^(\d{4})(\d{2})$/, '$1-$2') : text;
      return monthOrYear(dates(compact));
    },
    expected: (_, { dateFormat }) =>
      dateFormat === undefined
        ? 'a month, 2025-01 or 202501, or a year, 2025'
        : `a month or a year, ${dateFormat}`,
  },
  time: keptIf(
    (text) => /^(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?$/.test(text),
    'a time of day, HH:MM or HH:MM:SS',
  ),
  month_day: keptIf((text) => isDate(`2024-${text}`), 'a month and day, MM-DD'),
  dims: {
    read: (text) => (isPrintable(text) ? dimsJson(text) : undefined),
    expected: () => 'dimension values such as side:buy or side:buy,city:Lahore',
  },
  list: {
    read: (text) => (isPrintable(text) ? arrayLiteral(text.split(';')) : undefined),
    expected: () => 'words separated by ;',
  },
};

/** Text that is stored unchanged. */
function keptIf(fits: (text: string) => boolean, expected: string): CellType {
  return { read: (text) => (fits(text) ? text : undefined), expected: () => expected };
}

/** A link for people: it shows its target, and contains no password. */
function isHttpsUrl(text: string): boolean {
  if (!/^https:\/\/\S{1,1990}$/.test(text) || !isPrintable(text)) return false;
  const url = URL.parse(text);
  return url !== null && url.username === '' && url.password === '';
}

/** The values as JSON; undefined if a part has no name, no value or several, or a name is repeated. */
function dimsJson(text: string): string | undefined {
  const parts = readDims(text);
  const named = new Map(parts.map(({ name, values }) => [name, values]));
  const isPlain = parts.every(({ name, values }) => name !== '' && values.length === 1 && values[0] !== '');
  if (!isPlain || named.size < parts.length) return undefined;
  return JSON.stringify(Object.fromEntries([...named].map(([name, [value]]) => [name, value])));
}

/** A code that is stored in capitals, however it is written. */
function inCapitals(shape: RegExp, expected: string): CellType {
  return { read: (text) => (shape.test(text) ? text.toUpperCase() : undefined), expected: () => expected };
}

/** Parses the cells of one file. */
export interface CellReader {
  /**
   * A cell in PostgreSQL's format (a list as an array literal), null if it is empty or means missing, undefined if it does not match the
   * column's type.
   */
  read: (column: Column, text: string) => string | null | undefined;
  /** What a cell of the column must contain, for messages and for --describe. */
  expected: (column: Column) => string;
}

/** @throws IngestFailure if the options contradict each other. */
export function cellReader(options: CellOptions = {}): CellReader {
  const forms = { options, values: valueReader(options), dates: dateReader(options.dateFormat) };
  const missing = new Set(['', ...(options.missing ?? [])]);
  return {
    read(column, text) {
      if (missing.has(text)) return null;
      const value = cellTypes[column.type].read(text, column, forms);
      return column.zeroIsMissing === true && Number(value) <= 0 ? null : value;
    },
    expected: (column) => cellTypes[column.type].expected(column, options),
  };
}

/** Cells in their plain forms, such as the constants of --set. */
export const plainCells: CellReader = cellReader();

/** The types that --date-format concerns. */
export const dateTypes: ReadonlySet<ColumnType> = new Set(['date', 'point_date', 'instant', 'month_or_year']);
/** The types that --decimal, --thousands and --multiply concern. */
export const numberTypes: ReadonlySet<ColumnType> = new Set(['number', 'integer']);

/** At most thirty digits on either side of the decimal point. */
const boundedNumber = /^[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?(?:[012]?\d|30))?$/;

function reservedText({ reserved = [] }: Column): string {
  return reserved.map((id) => `; not ${id}, which has a meaning of its own`).join('');
}

function signsText({ decimal = '.', thousands }: CellOptions): string {
  return [
    ...(decimal === '.' ? [] : [`, with ${decimal} as the decimal separator`]),
    ...(thousands === undefined ? [] : [`, with "${thousands}" between groups of three digits`]),
  ].join('');
}

function dayOf(range: DateRange | null): string | undefined {
  return range !== null && range.from === range.to ? range.from : undefined;
}

function monthOrYear(range: ReturnType<DateReader>): string | undefined {
  if (range === null || range.isFiscalYear === true || !/^[12]/.test(range.from)) return undefined;
  if (range.from.endsWith('-01-01') && range.to.endsWith('-12-31')) return range.from.slice(0, 4);
  const isMonth = range.from < range.to && range.from.slice(0, 7) === range.to.slice(0, 7);
  return isMonth ? range.from.slice(0, 7) : undefined;
}

const booleans: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['yes', 'true'],
  ['1', 'true'],
  ['false', 'false'],
  ['no', 'false'],
  ['0', 'false'],
]);

/** Makes an id from a name: `Rice (basmati, broken)` is `rice-basmati-broken`. Undefined if no letter or digit is left. */
function slugOf(name: string): string | undefined {
  if (name.length > nameLengthMax || !isPrintable(name)) return undefined;
  const words = name
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/\p{Mn}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-');
  const slug = words.replaceAll(/^-|-$/g, '');
  return slug === '' || slug.length > slugLengthMax ? undefined : slug;
}

/** Whether a name consists only of words for all cities of a country, such as `national-average` and `all-markets`. */
function isOverCities(slug: string): boolean {
  const words = slug.split('-');
  return (
    words.some((word) => overCities.has(word)) &&
    words.every((word) => overCities.has(word) || filling.has(word))
  );
}

const overCities: ReadonlySet<string> = new Set(
  'national nation nationwide country countrywide average avg mean overall total all'.split(' '),
);
const filling: ReadonlySet<string> = new Set(
  'the of whole weighted simple urban rural price prices level city cities market markets'.split(' '),
);

/** ISO 6166: letters count 10 to 35, and the digits of all pass the Luhn check. */
function isIsin(text: string): boolean {
  if (!/^[A-Z]{2}[A-Z0-9]{9}\d$/.test(text)) return false;
  const digits = text
    .split('')
    .map((sign) => parseInt(sign, 36))
    .join('');
  const sum = digits
    .split('')
    .reverse()
    .reduce((total, digit, i) => {
      const weighted = Number(digit) * (i % 2 === 0 ? 1 : 2);
      return total + (weighted > 9 ? weighted - 9 : weighted);
    }, 0);
  return sum % 10 === 0;
}

/** A day, or a day and a time with or without an offset; the day as ISO 8601 writes it. */
function instantOf(text: string, dates: DateReader): string | undefined {
  const time =
    /[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?$/.exec(text)?.[0] ?? '';
  const day = dayOf(dates(text.slice(0, text.length - time.length)));
  return day === undefined ? undefined : `${day}${time}`;
}

function isWithin({ range }: Column, text: string): boolean {
  return range === undefined || (Number(text) >= range[0] && Number(text) <= range[1]);
}

function withinText({ range }: Column): string {
  return range === undefined ? '' : ` from ${range[0]} to ${range[1]}`;
}

function arrayLiteral(parts: string[]): string {
  const words = parts.map((part) => part.trim()).filter((part) => part !== '');
  return `{${words.map((word) => `"${word.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

/** Line breaks and tabs are allowed; other control characters are not, nor half a surrogate pair, which PostgreSQL cannot store. */
export function isPrintable(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- refusing control characters is the point
  return text.isWellFormed() && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text);
}
