// The role of each column of a table: values, a key of the rows, a fact of the series, or nothing to load. A pure function of the sampled
// rows: they decide, and titles settle only what the rows leave open.
import { entryAt } from '../../../kernel/entries.ts';
import { isNumberText } from '../../cells/cell-forms.ts';
import type { DatedText } from '../../cells/dates/date-forms.ts';
import { detectDates } from './date-format.ts';
import { isYearAnnotation, isUntitled } from './header-lines.ts';
import { vintageTitle } from './layout.ts';
import { isOfWords } from './dates-across.ts';
import { columnsLikeDates } from './columns-like-dates.ts';
import { flagColumn, longestFlag } from './flag-column.ts';
import { ofNoPeriod, besideValues, detectDimensions, likeDates, type Dimensions } from './dimensions.ts';
import {
  areDistinct,
  examinedRows,
  followsFromText,
  isCodeTitle,
  isDetermined,
  numbersRows,
  profileOf,
  titled,
  unitTitle,
  type Profile,
} from './column-profile.ts';

export interface Columns extends Dimensions {
  /** Positions of the columns of values. */
  values: number[];
  /** The column that names the series, such as `Series Key`. */
  key: number | null;
  name: number | null;
  /** The column that has the title of the whole table in every row. */
  dataset: number | null;
  unit: number | null;
  currency: number | null;
  frequency: number | null;
  status: number | null;
  /** Each column of values has its status in the column to its right. */
  statusBeside: boolean;
  /** The column of the days of publication. */
  vintage: { at: number; isSure: boolean; format: string | undefined } | null;
  /** The column of the power of ten of the unit. */
  multiplier: number | null;
}

/** The roles that are found before the dimensions, from titles and cells. */
type Assigned = Omit<Columns, Exclude<keyof Dimensions, 'ignored' | 'evidence'>>;

/** The end of why a column with one text is not loaded. */
export const inEveryRow = 'in every row';

/**
 * @param rows those of data. @param titles of all columns.
 * @param known the columns of dates, and those of periods across: values by definition.
 */
export function detectColumns(
  rows: readonly string[][],
  titles: readonly string[],
  known: {
    dates: readonly number[];
    periods: readonly number[];
    spanOf?: (row: readonly string[]) => Pick<DatedText, 'from' | 'to'> | null;
  },
): Columns {
  const found: Assigned = {
    values: [...known.periods],
    key: null,
    name: null,
    dataset: null,
    unit: null,
    currency: null,
    frequency: null,
    status: null,
    statusBeside: false,
    vintage: null,
    multiplier: null,
    ignored: new Map(),
    evidence: new Map(),
  };
  // The column of dates is known, and has the most different texts.
  const profiles = titles.map((_, at) => profileOf(known.dates.includes(at) ? [] : rows, at));
  const others = titles.flatMap((_, at) =>
    known.dates.includes(at) || known.periods.includes(at) ? [] : [at],
  );
  const free = new Set(others);
  const claimColumn = (pattern: Pick<RegExp, 'test'>, isOfWords = false): number | null => {
    const at = others.find(
      (each) =>
        free.has(each) &&
        pattern.test(entryAt(titles, each)) &&
        entryAt(profiles, each).filled > 0 &&
        (!isOfWords || entryAt(profiles, each).words.size > 0),
    );
    if (at !== undefined) free.delete(at);
    return at ?? null;
  };
  for (const at of others)
    if (entryAt(profiles, at).filled === 0) {
      free.delete(at);
      if (!isUntitled(entryAt(titles, at), at)) found.ignored.set(at, 'it is empty');
    }
  const ofWords = others.filter((at) => entryAt(profiles, at).words.size > 0);
  for (const at of others)
    if (
      numbersRows(entryAt(titles, at), at, entryAt(profiles, at), rows) &&
      areDistinct(
        rows.filter((row) => (row[at] ?? '').trim() !== ''),
        [...known.dates, ...ofWords],
      )
    ) {
      free.delete(at);
      found.ignored.set(at, 'it numbers the rows');
    }
  for (const at of repeatedDates(rows, titles, known.dates)) {
    free.delete(at);
    found.ignored.set(at, 'it repeats the dates');
  }
  found.key = claimColumn(titled.key);
  found.status = claimColumn(titled.statusCodes) ?? claimColumn(titled.status);
  // Numbers below Units or Currency are sold units, and money in circulation.
  found.unit = claimColumn(unitTitle, true);
  found.currency = claimColumn(titled.currency, true);
  if (found.currency !== null && namesRows(rows, known.dates, found.currency)) {
    free.add(found.currency);
    found.currency = null;
  }
  found.frequency = claimColumn(titled.frequency);
  for (const role of ['status', 'frequency'] as const) {
    const at = found[role];
    if (at === null || !dividesRows(rows, [...known.dates, ...ofWords], at)) continue;
    free.add(at);
    found[role] = null;
  }
  found.multiplier = claimColumn(titled.multiplier);
  assignVintage(found, free, titles, profiles);
  if (known.periods.length === 0) {
    for (const at of columnsLikeDates([...free], titles, known.dates, rows, known.spanOf ?? (() => null))) {
      free.delete(at);
      found.ignored.set(at, likeDates);
    }
    assignValues(found, free, titles, profiles, rows);
  } else leaveNumbers(found, free, titles, profiles, known);
  assignAdjacentStatus(found, free, titles, profiles);
  for (const at of [...free].filter((each) => isYearAnnotation(entryAt(titles, each), 'note'))) {
    free.delete(at);
    found.ignored.set(at, 'it has notes on points');
  }
  const body = rows
    .filter((row) => found.values.some((at) => (row[at] ?? '').trim() !== ''))
    .filter((row) => !isOfWords(row, known.periods))
    .slice(0, examinedRows);
  if (found.status === null && !found.statusBeside && known.periods.length === 0) {
    const flags = flagColumn(free, titles, body, titled.comment);
    if (flags !== null) {
      found.status = flags.at;
      free.delete(flags.at);
      found.evidence.set(flags.at, `"${flags.example}" is short, and beside some of the values only`);
    }
  }
  assignNames(found, free, titles, body, claimColumn);
  leaveStatusTexts(found, free, titles, body);
  const dimensions = detectDimensions(
    free,
    { key: found.key, dates: known.dates, values: found.values },
    titles,
    body,
  );
  return {
    ...{ ...found, ...dimensions },
    ignored: new Map([...found.ignored, ...dimensions.ignored]),
    evidence: new Map([...found.evidence, ...dimensions.evidence]),
  };
}

/** Whether each row of a date has another currency: exchange rates are of a currency, and not in it. */
function namesRows(rows: readonly string[][], dates: readonly number[], currency: number): boolean {
  const named = rows.filter((row) => (row[currency] ?? '').trim() !== '');
  return !areDistinct(named, dates) && areDistinct(named, [...dates, currency]);
}

/** Whether the column has each of its texts for most of what the others state: `Employed` and `Unemployed` are no flags of values, and `Daily` and `Never` no frequencies of series. */
function dividesRows(rows: readonly string[][], columns: readonly number[], at: number): boolean {
  const named = rows.filter((row) => (row[at] ?? '').trim() !== '');
  const others = columns.filter((each) => each !== at);
  const countOf = (by: readonly number[]) =>
    new Set(named.map((row) => by.map((each) => (row[each] ?? '').trim()).join('\u001f'))).size;
  const texts = countOf([at]);
  return texts > 1 && named.length * 2 > countOf(others) * texts && areDistinct(named, [...others, at]);
}

/** The columns with the title of the dates: tables side by side have one each. */
export function otherDates(titles: readonly string[], dates: readonly number[]): number[] {
  const [only, second] = dates;
  if (only === undefined || second !== undefined) return [];
  const plain = (at: number) => entryAt(titles, at).replace(/ \(\d+\)$/, '');
  return titles.flatMap((_, at) =>
    at !== only && !isUntitled(plain(at), at) && plain(at) === plain(only) ? [at] : [],
  );
}

/** Those of them that have the date of each row, or nothing. */
function repeatedDates(
  rows: readonly string[][],
  titles: readonly string[],
  dates: readonly number[],
): number[] {
  return otherDates(titles, dates).filter((at) =>
    rows.every((row) => ['', (row[dates[0] ?? -1] ?? '').trim()].includes((row[at] ?? '').trim())),
  );
}

/**
 * Columns of numbers, unless their title names codes; if one is called value, only that. In a column of numbers at most half of the cells
 * are marks, or words that are repeated or few.
 */
function assignValues(
  found: Assigned,
  free: Set<number>,
  titles: readonly string[],
  profiles: readonly Profile[],
  rows: readonly string[][],
): void {
  const numeric = [...free].filter((at) => {
    const { filled, numbers, marks, plain, words, distinct } = entryAt(profiles, at);
    // Numbers of comments are short; Notes may be money.
    const isComment =
      titled.comment.test(entryAt(titles, at)) &&
      [...distinct.keys()].every((text) => /^\d{1,2}$|\D{3}/.test(text));
    if (numbers === 0 || plain === 0 || plain * 5 < numbers || isComment) return false;
    if (areTenors(entryAt(titles, at), [...distinct.keys()])) return false;
    // Currencies and how many of their units, as in the exchange rates of the SNB: EUR1, JPY100.
    if (
      distinct.size * 2 <= filled &&
      [...distinct.keys()].every((text) => /^[A-Z]{3}1(?:00?)?0?$/.test(text))
    )
      return false;
    return (
      numbers + marks >= filled * 0.9 || (numbers * 2 >= filled && words.size <= Math.max(6, filled * 0.05))
    );
  });
  const named = numeric.find((at) => titled.value.test(entryAt(titles, at)));
  const isPlain = numeric.filter(
    (at) => !isCodeTitle(entryAt(titles, at)) || isCount(entryAt(titles, at), entryAt(profiles, at)),
  );
  const values =
    named !== undefined
      ? [named]
      : isPlain.filter((at) => !isIdentifier(at, isPlain, titles, profiles, rows));
  const chosen = values.length > 0 ? values : isPlain.length > 0 ? isPlain : numeric;
  for (const at of chosen) {
    free.delete(at);
    found.values.push(at);
    found.evidence.set(at, at === named ? 'its title' : 'it has numbers');
  }
  for (const at of numeric.filter((each) => !chosen.includes(each) && isMeasure(entryAt(titles, each)))) {
    free.delete(at);
    const beside = `the column ${entryAt(titles, entryAt(chosen, 0))}`;
    const isOwn = (named === undefined || isPlain.includes(at)) && !followsFromText(at, profiles, rows);
    found.ignored.set(at, isOwn ? `${besideValues}, beside ${beside}` : `numbers beside ${beside}`);
  }
}

const tenorTitle = /^(?:tenors?|terms?|maturit(?:y|ies)|duration)\b/i;

/** Whether the texts are lengths of time, as `1W`, `3M` and `1Y`: months alone may be millions, unless the title says what they are. */
function areTenors(title: string, texts: readonly string[]): boolean {
  const isTenor = texts.every((text) => /^\d{1,3}\s?[DWMY]$/i.test(text) || /^[OTS]\/?N$/i.test(text));
  return isTenor && (tenorTitle.test(title) || texts.some((text) => /[DWY]$/i.test(text)));
}

/** `Number` of persons, unless it counts the rows: 1, 2, 3. */
function isCount(title: string, { distinct, filled }: Profile): boolean {
  if (!/(?:^|\/ )numbers?$/i.test(title)) return false;
  return distinct.size < filled || [...distinct.keys()].some((text, at) => Number(text) !== at + 1);
}

/**
 * Whether the whole numbers and the texts of another column determine each other, in several rows each: the numbers are then codes, not
 * values.
 */
function isIdentifier(
  at: number,
  numeric: readonly number[],
  titles: readonly string[],
  profiles: readonly Profile[],
  rows: readonly string[][],
): boolean {
  const { distinct, filled } = entryAt(profiles, at);
  if (numeric.length < 2 || distinct.size < 2 || distinct.size * 2 > filled) return false;
  if (![...distinct.keys()].every((text) => /^\d+$/.test(text))) return false;
  const body = rows.filter((row) => (row[at] ?? '').trim() !== '').slice(0, examinedRows);
  return titles.some((_, other) => {
    const { words } = entryAt(profiles, other);
    return words.size === distinct.size && isDetermined(body, [other], at) && isDetermined(body, [at], other);
  });
}

/** Days of publication, by the title: a vintage. */
function assignVintage(
  found: Assigned,
  free: Set<number>,
  titles: readonly string[],
  profiles: readonly Profile[],
): void {
  for (const at of [...free].filter((each) => vintageTitle.test(entryAt(titles, each)))) {
    const title = entryAt(titles, at);
    const texts = [...entryAt(profiles, at).distinct.keys()];
    const dates = detectDates(texts, { title });
    if (dates === null || dates.unread.length > 0) continue;
    free.delete(at);
    if (/end/i.test(title) || found.vintage !== null)
      found.ignored.set(at, 'it has the last day of a vintage, or repeats the day of publication');
    else
      found.vintage = {
        at,
        isSure: /^realtime_?start$|^vintages?$/i.test(title) && dates.isSure,
        format: dates.style.format,
      };
  }
}

/** Each column of values has flags in the column to its right, with a title of flags or without a title, and with short or empty cells. */
function assignAdjacentStatus(
  found: Assigned,
  free: Set<number>,
  titles: readonly string[],
  profiles: readonly Profile[],
): void {
  const adjacent = found.values.map((at) => at + 1);
  const isFlags = (at: number): boolean => {
    const profile = profiles[at];
    if (profile === undefined || found.values.includes(at)) return false;
    const isShort = [...profile.distinct.keys()].every(
      (text) => text.length <= longestFlag && !isNumberText(text),
    );
    const title = entryAt(titles, at);
    const isTitled =
      titled.flags.test(title) ||
      isYearAnnotation(title, 'flag') ||
      (adjacent.length > 1 && titled.flagCodes.test(title));
    return isShort && (isUntitled(title, at) || isTitled);
  };
  if (adjacent.length === 0 || (adjacent.length === 1 && found.status !== null)) return;
  const isLast = (at: number) => at >= titles.length;
  if (
    !adjacent.every((at) => isFlags(at) || isLast(at)) ||
    !adjacent.some((at) => isFlags(at) && entryAt(profiles, at).filled > 0)
  )
    return;
  found.statusBeside = true;
  found.status = null;
  for (const at of adjacent) {
    free.delete(at);
    found.ignored.delete(at);
  }
}

/** `Flag Description` beside `Flag`: the points have its code. */
function leaveStatusTexts(
  { status, ignored }: Assigned,
  free: Set<number>,
  titles: readonly string[],
  body: readonly string[][],
): void {
  if (status === null) return;
  for (const at of [...free]) {
    if (!titled.ofFlags.test(entryAt(titles, at)) || !isDetermined(body, [status], at)) continue;
    free.delete(at);
    ignored.set(at, `it describes ${entryAt(titles, status)}`);
  }
}

/** Numbers beside the periods of a line, such as their total, or the average of a year: they belong to no period. */
function leaveNumbers(
  found: Assigned,
  free: Set<number>,
  titles: readonly string[],
  profiles: readonly Profile[],
  { periods, dates }: { periods: readonly number[]; dates: readonly number[] },
): void {
  const first = Math.min(...periods);
  for (const at of [...free]) {
    const { filled, numbers, marks } = entryAt(profiles, at);
    if (filled === 0 || numbers === 0 || numbers + marks < filled * 0.9) continue;
    const title = entryAt(titles, at);
    if (isCodeTitle(title) || (dates.length === 0 && at < first && !isUntitled(title, at))) continue;
    free.delete(at);
    found.ignored.set(at, ofNoPeriod);
  }
}

/** Numbers of rows and ranks are of no use; codes may be what names a series. */
const isMeasure = (title: string) => !/codes?$|(?:^|[\s_.-])ids?$|[a-z]I[dD]s?$|key$/i.test(title);

/** Names, comments, and constant columns. */
function assignNames(
  found: Assigned,
  free: Set<number>,
  titles: readonly string[],
  body: readonly string[][],
  claimColumn: (pattern: RegExp) => number | null,
): void {
  if (found.key !== null) {
    const { key } = found;
    const names = [...free].filter((at) => titled.name.test(entryAt(titles, at)));
    // The last of two names is the plain one: the first has the position in a hierarchy.
    found.name = names.findLast((at) => isDetermined(body, [key], at)) ?? null;
    for (const at of names) {
      free.delete(at);
      if (at !== found.name)
        found.ignored.set(at, 'it is another name of the series, or has several for one');
    }
  }
  for (let at = claimColumn(titled.comment); at !== null; at = claimColumn(titled.comment))
    found.ignored.set(at, 'its title is that of a comment or a row number');
  for (const at of [...free]) {
    const texts = new Set(body.map((row) => (row[at] ?? '').trim()));
    const [only = ''] = texts;
    if (texts.size > 1 || body.length < 2) continue;
    free.delete(at);
    if (titled.dataset.test(entryAt(titles, at)) && /\p{L}{2}.* /u.test(only)) found.dataset ??= at;
    if (found.dataset === at) continue;
    found.ignored.set(
      at,
      only === '' ? 'it is empty beside the values' : `it is "${only.slice(0, 60)}" ${inEveryRow}`,
    );
  }
}
