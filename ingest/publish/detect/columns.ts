// What each column of a table is: values, a key of the rows, a fact of the series, or nothing to load. A pure function of the sampled rows;
// which columns tell the rows apart is found from the rows, and titles decide only what the rows leave open.
import { entryAt, entryOf } from '../../../kernel/entries.ts';
import { cellOf, isNumberText } from '../forms/cells.ts';
import { detectDates } from './dates.ts';
import { isDetermined } from './determined.ts';
import { isUntitled } from './head.ts';
import { filledDown, vintageTitle } from './layout.ts';

export interface Columns {
  /** Positions of the columns of values. */
  values: number[];
  /** The column that names the series, such as `Series Key`. */
  key: number | null;
  /** The columns that tell the rows of one date apart, beside the key. */
  dimensions: number[];
  name: number | null;
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
  /** Columns whose empty cells repeat the cell above. */
  filled: number[];
  /** Positions of what is not loaded → why. */
  ignored: Map<number, string>;
  /** A column of codes, and the form that they have: rows of another form are headings and totals. */
  only: { column: number; expression: string; evidence: string } | null;
  /** Texts of a key that are totals of other rows. */
  totals: { column: number; texts: string[] } | null;
  /** Why the columns are what they are, by position. */
  evidence: Map<number, string>;
}

interface Profile {
  filled: number;
  /** Numbers, with flags or without. */
  numbers: number;
  /** Bounds, and marks in the place of numbers. */
  marks: number;
  /** Numbers without a letter beside them: `3m` in every row is a word. */
  plain: number;
  /** Words, each with its count. */
  words: Map<string, number>;
  distinct: Map<string, number>;
  averageLength: number;
}

const examinedRows = 20_000;
const isinForm = '^[A-Z]{2}[A-Z0-9]{9}[0-9]$';

const titled = {
  status: /^(?:obs(?:ervation)?[ _]?)?(?:status|flags?)$/i,
  flags: /^(?:.*[ _])?(?:flags?|status|footnotes?|notes?|symbols?|fn|markers?)(?: codes?)?(?: \(\d+\))?$/i,
  comment: /comment|footnote|^notes?$|remark|sequence/i,
  unit: /^(?:units?(?:[ _](?:of[ _])?measure)?|uom|unit[ _]name|einheit|unidad|unit[ée])$/i,
  currency: /^currency(?:[ _]code)?$/i,
  frequency: /^freq(?:uency)?$/i,
  multiplier: /^(?:scalar_factor|unit[ _]?mult(?:iplier)?|scale|multiplier|power[ _]?code|magnitude)$/i,
  key: /^(?:series|indicator|variable|subject)[ _.-]?(?:key|id|code|identifier)$/i,
  name: /^(?:series|indicator|variable|subject)(?:[ _.-]?(?:display[ _])?(?:name|title|descriptor))?$/i,
  value: /^(?:obs(?:ervation)?[ _.]?)?values?$/i,
  code: /(?:^|[\s_.-])(?:codes?|ids?|no\.?|nr\.?|num(?:ber)?|lat(?:itude)?|lon(?:g(?:itude)?)?|rank|row|line|vector|dguid|guid|key|year|month|day|quarter|decimals|coordinate|precision|sl\.? ?no\.?)$/i,
  camelCode: /[a-z](?:ID|Id|Code|No|Nr|Key)s?$/,
} as const;

/**
 * @param rows those of data. @param titles of all columns.
 * @param taken the columns of dates, and those of periods across: values by definition.
 */
export function detectColumns(
  rows: readonly string[][],
  titles: readonly string[],
  taken: { dates: readonly number[]; periods: readonly number[] },
): Columns {
  const found: Columns = {
    values: [...taken.periods],
    key: null,
    dimensions: [],
    name: null,
    unit: null,
    currency: null,
    frequency: null,
    status: null,
    statusBeside: false,
    vintage: null,
    multiplier: null,
    filled: [],
    ignored: new Map(),
    only: null,
    totals: null,
    evidence: new Map(),
  };
  // The column of dates is known, and has the most different texts.
  const profiles = titles.map((_, at) => profileOf(taken.dates.includes(at) ? [] : rows, at));
  const others = titles.flatMap((_, at) =>
    taken.dates.includes(at) || taken.periods.includes(at) ? [] : [at],
  );
  const free = new Set(others);
  const take = (pattern: RegExp): number | null => {
    const at = others.find(
      (each) => free.has(each) && pattern.test(entryAt(titles, each)) && entryAt(profiles, each).filled > 0,
    );
    if (at !== undefined) free.delete(at);
    return at ?? null;
  };
  for (const at of others)
    if (entryAt(profiles, at).filled === 0) {
      free.delete(at);
      if (!isUntitled(entryAt(titles, at), at)) found.ignored.set(at, 'it is empty');
    }
  found.key = take(titled.key);
  found.status = take(titled.status);
  found.unit = take(titled.unit);
  found.currency = take(titled.currency);
  found.frequency = take(titled.frequency);
  found.multiplier = take(titled.multiplier);
  takeVintage(found, free, titles, profiles);
  if (taken.periods.length === 0) takeValues(found, free, titles, profiles, rows);
  else leaveNumbers(found, free, titles, profiles, taken);
  takeStatusBeside(found, free, titles, profiles);
  const body = rows
    .filter((row) => found.values.some((at) => (row[at] ?? '').trim() !== ''))
    .slice(0, examinedRows);
  takeNames(found, free, titles, body, take);
  leaveDateNames(found, free, taken.dates, body);
  takeKeys(found, free, titles, body);
  return found;
}

function profileOf(rows: readonly string[][], column: number): Profile {
  const profile: Profile = {
    ...{ filled: 0, numbers: 0, marks: 0, plain: 0, averageLength: 0 },
    ...{ words: new Map<string, number>(), distinct: new Map<string, number>() },
  };
  let length = 0;
  for (const row of rows) {
    const text = (row[column] ?? '').trim();
    if (text === '') continue;
    profile.filled++;
    length += text.length;
    const cell = cellOf(text);
    if (cell.kind === 'number') {
      profile.numbers++;
      if (!cell.signs.some((sign) => /^[a-z]+$/i.test(sign))) profile.plain++;
    } else if (cell.kind === 'word') profile.words.set(text, (profile.words.get(text) ?? 0) + 1);
    else profile.marks++;
    if (profile.distinct.size < examinedRows)
      profile.distinct.set(text, (profile.distinct.get(text) ?? 0) + 1);
  }
  profile.averageLength = profile.filled === 0 ? 0 : length / profile.filled;
  return profile;
}

/**
 * Columns of numbers, unless their title says that they are codes; if one is called value, only that. A column is one of numbers if at most half
 * of its cells are marks, or words that are repeated or few: a text in each row beside numbers in the others is neither.
 */
function takeValues(
  found: Columns,
  free: Set<number>,
  titles: readonly string[],
  profiles: readonly Profile[],
  rows: readonly string[][],
): void {
  const numeric = [...free].filter((at) => {
    const { filled, numbers, marks, plain, words } = entryAt(profiles, at);
    if (numbers === 0 || plain === 0 || plain * 5 < numbers || titled.comment.test(entryAt(titles, at)))
      return false;
    return (
      numbers + marks >= filled * 0.9 || (numbers * 2 >= filled && words.size <= Math.max(6, filled * 0.05))
    );
  });
  const named = numeric.find((at) => titled.value.test(entryAt(titles, at)));
  const isPlain = numeric.filter((at) => !isCodeTitle(entryAt(titles, at)));
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
    found.ignored.set(at, `numbers beside the column ${entryAt(titles, entryAt(chosen, 0))}`);
  }
}

const isCodeTitle = (title: string) => titled.code.test(title) || titled.camelCode.test(title);

/**
 * Whole numbers that follow from a text beside them, and that text from them: they identify what the text names. A column that is the same for
 * one text and differs between texts does so, too, if the texts have several rows.
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

/** Days of publication: a vintage, where the title says it. */
function takeVintage(
  found: Columns,
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
      found.ignored.set(at, 'it says until when a value was known, or repeats the day of publication');
    else
      found.vintage = {
        at,
        isSure: /^realtime_?start$|^vintages?$/i.test(title) && dates.isSure,
        format: dates.style.format,
      };
  }
}

/** Each column of values has flags in the column to its right: their titles say so, or there are none, and their cells are short or empty. */
function takeStatusBeside(
  found: Columns,
  free: Set<number>,
  titles: readonly string[],
  profiles: readonly Profile[],
): void {
  const beside = found.values.map((at) => at + 1);
  const isFlags = (at: number): boolean => {
    const profile = profiles[at];
    if (profile === undefined || found.values.includes(at)) return false;
    const isShort = [...profile.distinct.keys()].every((text) => text.length <= 16 && !isNumberText(text));
    return isShort && (isUntitled(entryAt(titles, at), at) || titled.flags.test(entryAt(titles, at)));
  };
  if (beside.length === 0 || (beside.length === 1 && found.status !== null)) return;
  const isLast = (at: number) => at >= titles.length;
  if (
    !beside.every((at) => isFlags(at) || isLast(at)) ||
    !beside.some((at) => isFlags(at) && entryAt(profiles, at).filled > 0)
  )
    return;
  found.statusBeside = true;
  found.status = null;
  for (const at of beside) {
    free.delete(at);
    found.ignored.delete(at);
  }
}

/** Numbers beside the periods of a line, such as their total, or the average of a year: they are of no period. */
function leaveNumbers(
  found: Columns,
  free: Set<number>,
  titles: readonly string[],
  profiles: readonly Profile[],
  { periods, dates }: { periods: readonly number[]; dates: readonly number[] },
): void {
  const last = Math.max(...periods);
  for (const at of [...free]) {
    const { filled, numbers, marks } = entryAt(profiles, at);
    if (filled === 0 || numbers === 0 || numbers + marks < filled * 0.9) continue;
    const title = entryAt(titles, at);
    if (isCodeTitle(title) || (dates.length === 0 && at < last && !isUntitled(title, at))) continue;
    free.delete(at);
    found.ignored.set(at, besideParts);
  }
}

/** Why numbers beside the months of a year are not loaded. */
const besideParts = 'numbers of no single period, beside those of the periods';

/** Whether a column may yet be one to load. */
export const isDoubtful = (whyIgnored: string): boolean =>
  [besideParts, sayingDates].some((why) => whyIgnored.startsWith(why));

/** Numbers of rows and ranks are of no use; codes may be what names a series. */
const isMeasure = (title: string) => !/codes?$|(?:^|[\s_.-])ids?$|[a-z]I[dD]s?$|key$/i.test(title);

/** Names, comments, and what is the same in every row. */
function takeNames(
  found: Columns,
  free: Set<number>,
  titles: readonly string[],
  body: readonly string[][],
  take: (pattern: RegExp) => number | null,
): void {
  if (found.key !== null) {
    const { key } = found;
    const names = [...free].filter((at) => titled.name.test(entryAt(titles, at)));
    // Of two names the last is the plain one: the first has the place in a hierarchy.
    found.name = names.findLast((at) => isDetermined(body, [key], at)) ?? null;
    for (const at of names) {
      free.delete(at);
      if (at !== found.name)
        found.ignored.set(at, 'it is another name of the series, or has several for one');
    }
  }
  for (let at = take(titled.comment); at !== null; at = take(titled.comment))
    found.ignored.set(at, 'its title says that it is a comment or a number of the row');
  for (const at of [...free]) {
    const texts = new Set(body.map((row) => (row[at] ?? '').trim()));
    const [only = ''] = texts;
    if (texts.size > 1 || body.length < 2) continue;
    free.delete(at);
    found.ignored.set(
      at,
      only === '' ? 'it is empty beside the values' : `it is "${only.slice(0, 60)}" in every row`,
    );
  }
}

/** Texts that go with one date each, such as `January 2024`, say the date again: as a dimension they would give each point a series of its own. */
function leaveDateNames(
  found: Columns,
  free: Set<number>,
  dates: readonly number[],
  body: readonly string[][],
): void {
  if (dates.length === 0) return;
  for (const at of [...free]) {
    const texts = new Set(body.map((row) => (row[at] ?? '').trim()));
    if (texts.size < 3 || ![...texts].every((text) => /\d/.test(text))) continue;
    if (!isDetermined(body, dates, at) || !dates.every((date) => isDetermined(body, [at], date))) continue;
    free.delete(at);
    found.ignored.set(at, sayingDates);
  }
}

/** Why a column that says the dates again is not loaded. */
const sayingDates = 'it has one text for each date';

/** Of the columns that are left, those that tell the rows of one date apart. */
function takeKeys(
  found: Columns,
  free: Set<number>,
  titles: readonly string[],
  all: readonly string[][],
): void {
  const isins = [...free].find((at) => countMatching(all, at, new RegExp(isinForm)) * 2 > all.length);
  let body = all;
  if (isins !== undefined) {
    const matching = countMatching(all, isins, new RegExp(isinForm));
    if (matching < all.length)
      found.only = {
        column: isins,
        expression: isinForm,
        evidence: `${matching} of ${all.length} rows have an ISIN; the others are headings and totals`,
      };
    body = all.filter((row) => new RegExp(isinForm).test((row[isins] ?? '').trim()));
  }
  for (const at of [...free]) {
    const filled = body.filter((row) => (row[at] ?? '').trim() !== '').length;
    if (filled >= body.length * 0.95) continue;
    if (isStatedOnce(body, at)) {
      found.filled.push(at);
      body = filledDown(body, [at]);
      continue;
    }
    free.delete(at);
    found.ignored.set(at, `it is empty in ${body.length - filled} of ${body.length} rows with values`);
  }
  const profiles = new Map([...free].map((at) => [at, profileOf(body, at)]));
  // Of columns that name the same, one of words is kept before one of numbers, and a short text before a long one.
  const codes = (at: number) => {
    const texts = [...entryOf(profiles, at).distinct.keys()];
    return texts.filter((text) => /\d/.test(text)).length * 2 > texts.length ? 0 : 1;
  };
  const coarseFirst = [...free].toSorted(
    (a, b) =>
      entryOf(profiles, a).distinct.size - entryOf(profiles, b).distinct.size ||
      codes(a) - codes(b) ||
      entryOf(profiles, b).averageLength - entryOf(profiles, a).averageLength,
  );
  const kept = new Set([...(found.key === null ? [] : [found.key]), ...free]);
  for (const at of coarseFirst) {
    const rest = [...kept].filter((each) => each !== at);
    if (rest.length === 0 || !isDetermined(body, rest, at)) continue;
    kept.delete(at);
    const by = rest.find((each) => isDetermined(body, [each], at));
    const of = by === undefined ? 'the others' : entryAt(titles, by);
    const { words, filled } = entryOf(profiles, at);
    const isNumbers = words.size === 0 && filled > 0 && !isCodeTitle(entryAt(titles, at));
    found.ignored.set(at, isNumbers ? `${besideParts}, which follow from ${of}` : `it follows from ${of}`);
  }
  found.dimensions = [...kept].filter((at) => at !== found.key).toSorted((a, b) => a - b);
  for (const at of found.dimensions)
    found.evidence.set(at, `it tells apart rows of one date (${entryOf(profiles, at).distinct.size} texts)`);
  found.totals = totalsIn(found, body);
  found.only ??= unlabelled(found, titles, body);
}

/** Few rows have values and no text in a dimension: sums below the table. */
function unlabelled(
  { dimensions }: Columns,
  titles: readonly string[],
  body: readonly string[][],
): Columns['only'] {
  for (const column of dimensions) {
    const empty = body.filter((row) => (row[column] ?? '').trim() === '').length;
    if (empty > 0)
      return {
        column,
        expression: String.raw`\S`,
        evidence: `${empty} of ${body.length} rows with values have no text in ${entryAt(titles, column)}`,
      };
  }
  return null;
}

/** Whether the text of a group of rows is only in the first of them: another text begins where the cells are filled. */
function isStatedOnce(body: readonly string[][], at: number): boolean {
  const texts = body.map((row) => (row[at] ?? '').trim());
  const stated = texts.filter((text) => text !== '');
  return (
    texts[0] !== '' &&
    stated.length >= 2 &&
    stated.length * 2 <= texts.length &&
    new Set(stated).size === stated.length
  );
}

function countMatching(rows: readonly string[][], column: number, form: RegExp): number {
  return rows.filter((row) => form.test((row[column] ?? '').trim())).length;
}

const total = /^\W*(?:\(?[a-z]{1,3}\)\s*)?(?:grand[- ]?|sub[- ]?)*totals?\b/i;

function totalsIn({ dimensions }: Columns, body: readonly string[][]): Columns['totals'] {
  for (const column of dimensions) {
    const texts = [
      ...new Set(body.map((row) => (row[column] ?? '').trim()).filter((text) => total.test(text))),
    ];
    if (texts.length > 0) return { column, texts };
  }
  return null;
}
