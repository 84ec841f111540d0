// Finds the dimensions of the series from the rows alone: the columns that distinguish the rows of one date. Recognises columns that repeat
// another one, are filled only once for a group of rows, or have the totals of other rows.
import { entryAt, entryOf } from '../../../kernel/entries.ts';
import { isNumberText } from '../../cells/cell-forms.ts';
import { filledDown } from './layout.ts';
import {
  areDecimals,
  areDistinct,
  isCodeTitle,
  isDetermined,
  profileOf,
  type Profile,
} from './column-profile.ts';

const total = /^\W*(?:\(?[a-z]{1,3}\)\s*)?(?:grand[- ]?|sub[- ]?)*totals?\b/i;

/** Whether a text names the total of other rows: `Total`, `Grand total`, `(A) Sub-total`. */
const isTotal = (text: string): boolean => total.test(text);

export interface Dimensions {
  /** The columns that distinguish the rows of one date, besides the key. */
  dimensions: number[];
  /** Columns whose empty cells repeat the cell above. */
  filled: number[];
  /** A column of codes, and the form that they have: rows of another form are headings and totals. */
  only: { column: number; expression: string; evidence: string } | null;
  /** Texts of a key that are totals of other rows. */
  totals: { column: number; texts: string[] } | null;
  /** Positions of columns that are not loaded → why. */
  ignored: Map<number, string>;
  /** The reasons for the roles of columns, by position. */
  evidence: Map<number, string>;
}

type Rows = readonly string[][];

const isinForm = '^[A-Z]{2}[A-Z0-9]{9}[0-9]$';
const isin = new RegExp(isinForm);

/** Why numbers beside those of the periods are not loaded. */
export const ofNoPeriod = 'numbers of no single period, beside those of the periods';
/** Why a column that repeats the dates is not loaded. */
const repeatingDates = 'it has one text for each date';

/** Why texts that begin with numbers are not loaded. */
const ofSingleRows = 'it has another number in nearly every row, and the others distinguish the rows';

/** Why numbers that are like dates are not loaded. */
export const likeDates = 'its numbers are years, weeks or the dates of the rows';

/** Why a column that another one determines is not loaded. */
export const followsFrom = 'it follows from';

/** Why numbers beside the column of values are not loaded, if they do not follow from a text. */
export const besideValues = 'its numbers may be values as well';

/** Why a column of scales is not loaded. */
export const unknownScale = 'it multiplies the values by an unknown scale,';

/** Why a column of recurring texts is not loaded. */
const mayBeFlags = 'its texts may be flags';

/** Whether a column that is not loaded may be one to load after all. */
export const isDoubtful = (whyIgnored: string): boolean =>
  [ofNoPeriod, repeatingDates, ofSingleRows, likeDates, besideValues, mayBeFlags, unknownScale].some((why) =>
    whyIgnored.startsWith(why),
  );

/**
 * @param candidates the columns that are neither dates, values nor facts of the series. @param key the column that names the series.
 * @param dates the columns of dates. @param values those of values. @param rows those with a value.
 */
export function detectDimensions(
  candidates: Iterable<number>,
  { key, dates, values }: { key: number | null; dates: readonly number[]; values: readonly number[] },
  titles: readonly string[],
  rows: Rows,
): Dimensions {
  const free = new Set(candidates);
  const ignored = new Map<number, string>();
  const leave = (at: number, why: string) => {
    free.delete(at);
    ignored.set(at, why);
  };
  for (const at of repeatedDates(free, dates, rows)) leave(at, repeatingDates);
  for (const at of numbersOfRows(free, key, dates, rows)) leave(at, ofSingleRows);
  const withIsin = rowsWithIsin(free, rows);
  const { body, filled } = fillOrLeave(free, withIsin.rows, { titles, values, key, dates }, leave);
  leaveDetermined(free, key, titles, body, leave);
  const dimensions = [...free].toSorted((a, b) => a - b);
  const evidence = new Map<number, string>();
  for (const at of dimensions) {
    const texts = new Set(body.map((row) => textAt(row, at)).filter((text) => text !== ''));
    evidence.set(at, `it distinguishes rows of one date (${texts.size} texts)`);
  }
  const only = withIsin.only ?? unlabelled(dimensions, titles, body);
  return { dimensions, filled, only, totals: totalsIn(dimensions, body), ignored, evidence };
}

const textAt = (row: readonly string[], at: number) => (row[at] ?? '').trim();

/** Columns whose texts go with one date each, such as `January 2024`: as a dimension they would give each point a series of its own. */
function repeatedDates(free: ReadonlySet<number>, dates: readonly number[], rows: Rows): number[] {
  if (dates.length === 0) return [];
  return [...free].filter((at) => {
    const texts = new Set(rows.map((row) => textAt(row, at)));
    if (texts.size < 3 || ![...texts].every((text) => /\d/.test(text))) return false;
    if (isDetermined(rows, dates, at) && dates.every((date) => isDetermined(rows, [at], date))) return true;
    // The codes of the months beside a year.
    return dates.some((date) => isDetermined(rows, [date], at) && isDetermined(rows, [at], date));
  });
}

/** Columns of texts such as `58.1 [57.0-59.2]`, which repeat a value with its bounds. */
function numbersOfRows(
  free: ReadonlySet<number>,
  key: number | null,
  dates: readonly number[],
  rows: Rows,
): number[] {
  if (new Set(rows.map((row) => dates.map((at) => textAt(row, at)).join(' '))).size < 2) return [];
  return [...free].filter((at) => {
    const texts = rows.map((row) => textAt(row, at)).filter((text) => text !== '');
    if (new Set(texts).size < texts.length * 0.8 || !texts.every((text) => /^[-<>]?\d/.test(text)))
      return false;
    const others = [...dates, ...(key === null ? [] : [key]), ...[...free].filter((other) => other !== at)];
    const points = rows.map((row) => others.map((other) => textAt(row, other)).join('\u001f'));
    return new Set(points).size === points.length;
  });
}

/** The rows with an ISIN, if most have one. */
function rowsWithIsin(free: ReadonlySet<number>, rows: Rows): { rows: Rows; only: Dimensions['only'] } {
  const matching = (at: number) => rows.filter((row) => isin.test(textAt(row, at)));
  const column = [...free].find((at) => matching(at).length * 2 > rows.length);
  if (column === undefined) return { rows, only: null };
  const found = matching(column);
  if (found.length === rows.length) return { rows, only: null };
  const evidence = `${found.length} of ${rows.length} rows have an ISIN; the others are headings and totals`;
  return { rows: found, only: { column, expression: isinForm, evidence } };
}

/**
 * Fills down columns whose text is only in the first row of a group, and excludes others with many empty cells. A single empty cell in the
 * only column may be that of a total row, and so may few in a column without which rows would repeat.
 */
function fillOrLeave(
  free: ReadonlySet<number>,
  rows: Rows,
  {
    titles,
    values,
    key,
    dates,
  }: { titles: readonly string[]; values: readonly number[]; key: number | null; dates: readonly number[] },
  leave: (at: number, why: string) => void,
): { body: Rows; filled: number[] } {
  let body = rows;
  const filled: number[] = [];
  const withNumbers = rows.filter((row) => values.some((at) => isNumberText(row[at] ?? '')));
  const isNeeded = (at: number) => {
    const named = body.filter((row) => textAt(row, at) !== '');
    const others = [...dates, ...(key === null ? [] : [key]), ...[...free].filter((each) => each !== at)];
    return !areDistinct(named, others) && areDistinct(named, [...others, at]);
  };
  for (const at of [...free]) {
    const count = body.filter((row) => textAt(row, at) !== '').length;
    const isOnlySum = free.size === 1 && body.length > 2 && body.length - count === 1;
    if (count >= body.length * 0.95 || isOnlySum) continue;
    if (isStatedOnce(body, at)) {
      filled.push(at);
      body = filledDown(body, [at]);
    } else if (count * 2 <= body.length || !isNeeded(at)) {
      const why = `it is empty in ${body.length - count} of ${body.length} rows with values`;
      const profile = profileOf(body, at);
      const doubt = isOfNumbers(profile, entryAt(titles, at))
        ? ofNoPeriod
        : isOfFlags(profileOf(withNumbers, at))
          ? mayBeFlags
          : '';
      leave(at, doubt === '' ? why : `${doubt}; ${why}`);
    }
  }
  return { body, filled };
}

/** Whether only the first row of a group has its text: another text begins where the cells are filled. */
export function isStatedOnce(body: Rows, at: number): boolean {
  const texts = body.map((row) => textAt(row, at));
  const stated = texts.filter((text) => text !== '');
  return (
    texts[0] !== '' &&
    stated.length >= 2 &&
    stated.length * 2 <= texts.length &&
    new Set(stated).size === stated.length
  );
}

/** Whether a column has numbers that are no codes. A second line of titles may be among few rows. */
const isOfNumbers = ({ numbers, marks, filled }: Profile, title: string): boolean =>
  numbers > 0 && (numbers + marks) * 2 > filled && !isCodeTitle(title);

/** Whether texts recur that are too long for a status, and short for notes. */
const isOfFlags = ({ distinct, filled }: Profile): boolean =>
  distinct.size <= 8 && distinct.size < filled && [...distinct.keys()].every((text) => text.length <= 40);

/** Leaves the columns that follow from the others, those with few texts first. */
function leaveDetermined(
  free: ReadonlySet<number>,
  key: number | null,
  titles: readonly string[],
  body: Rows,
  leave: (at: number, why: string) => void,
): void {
  const profiles = new Map([...free].map((at) => [at, profileOf(body, at)]));
  // Of columns that name the same, words are preferred to numbers, and short texts to long ones.
  const codes = (at: number) => {
    const texts = [...entryOf(profiles, at).distinct.keys()];
    return texts.filter((text) => /\d/.test(text)).length * 2 > texts.length ? 0 : 1;
  };
  const decimals = (at: number) => (areDecimals([...entryOf(profiles, at).distinct.keys()]) ? 0 : 1);
  const coarseFirst = [...free].toSorted(
    (a, b) =>
      decimals(a) - decimals(b) ||
      entryOf(profiles, a).distinct.size - entryOf(profiles, b).distinct.size ||
      codes(a) - codes(b) ||
      entryOf(profiles, b).averageLength - entryOf(profiles, a).averageLength,
  );
  for (const at of coarseFirst) {
    const rest = [...(key === null ? [] : [key]), ...free].filter((each) => each !== at);
    if (rest.length === 0 || !isDetermined(body, rest, at)) continue;
    const by = rest.find((each) => isDetermined(body, [each], at));
    const of = by === undefined ? 'the others' : entryAt(titles, by);
    leave(
      at,
      isOfNumbers(entryOf(profiles, at), entryAt(titles, at))
        ? `${ofNoPeriod}, which follow from ${of}`
        : `${followsFrom} ${of}`,
    );
  }
}

/** Few rows have values and no text in a dimension: sums below the table. */
function unlabelled(
  dimensions: readonly number[],
  titles: readonly string[],
  body: Rows,
): Dimensions['only'] {
  for (const column of dimensions) {
    const empty = body.filter((row) => textAt(row, column) === '').length;
    if (empty > 0)
      return {
        column,
        expression: String.raw`\S`,
        evidence: `${empty} of ${body.length} rows with values have no text in ${entryAt(titles, column)}`,
      };
  }
  return null;
}

function totalsIn(dimensions: readonly number[], body: Rows): Dimensions['totals'] {
  for (const column of dimensions) {
    const texts = [...new Set(body.map((row) => textAt(row, column)).filter(isTotal))];
    if (texts.length > 0) return { column, texts };
  }
  return null;
}
