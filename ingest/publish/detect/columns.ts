// What each column of a table is: values, a key of the rows, a fact of the series, or nothing to load. A pure function of the sampled rows;
// which columns tell the rows apart is found from the rows, and titles decide only what the rows leave open.
import { entryAt, entryOf } from '../../../kernel/entries.ts';
import { isUntitled } from './layout.ts';
import { isMissingMark, looksNumeric } from './number-forms.ts';

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
  /** Numbers, with flags or without, and marks of missing ones. */
  numeric: number;
  /** Numbers without a letter after them: `3m` in every row is a word. */
  plain: number;
  distinct: Map<string, number>;
  averageLength: number;
}

const examinedRows = 20_000;
const isinForm = '^[A-Z]{2}[A-Z0-9]{9}[0-9]$';

const titled = {
  status: /^(?:obs(?:ervation)?[ _]?)?(?:status|flags?)$/i,
  comment: /comment|footnote|^notes?$|remark|sequence/i,
  unit: /^units?(?:[ _](?:of[ _])?measure)?$/i,
  currency: /^currency(?:[ _]code)?$/i,
  frequency: /^freq(?:uency)?$/i,
  key: /^(?:series|indicator|variable|subject)[ _.-]?(?:key|id|code|identifier)$/i,
  name: /^(?:series|indicator|variable|subject)(?:[ _.-]?(?:display[ _])?(?:name|title|descriptor))?$/i,
  value: /^(?:obs(?:ervation)?[ _.]?)?values?$/i,
  code: /\b(?:codes?|ids?|no\.?|number|lat(?:itude)?|lon(?:g(?:itude)?)?|rank|sl\.? ?no\.?|year|month)$/i,
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
    if (entryAt(profiles, at).filled === 0 || isUntitled(entryAt(titles, at), at)) {
      free.delete(at);
      if (!isUntitled(entryAt(titles, at), at)) found.ignored.set(at, 'it is empty');
    }
  found.key = take(titled.key);
  found.status = take(titled.status);
  found.unit = take(titled.unit);
  found.currency = take(titled.currency);
  found.frequency = take(titled.frequency);
  if (taken.periods.length === 0) takeValues(found, free, titles, profiles);
  else if (taken.dates.length > 0) leaveNumbers(found, free, titles, profiles);
  const body = rows
    .filter((row) => found.values.some((at) => (row[at] ?? '').trim() !== ''))
    .slice(0, examinedRows);
  takeNames(found, free, titles, body, take);
  leaveDateNames(found, free, taken.dates, body);
  takeKeys(found, free, titles, body);
  return found;
}

function profileOf(rows: readonly string[][], column: number): Profile {
  const profile: Profile = { filled: 0, numeric: 0, plain: 0, distinct: new Map(), averageLength: 0 };
  let length = 0;
  for (const row of rows) {
    const text = (row[column] ?? '').trim();
    if (text === '') continue;
    profile.filled++;
    length += text.length;
    if (looksNumeric(text)) {
      profile.numeric++;
      if (/[\d%]$/.test(text)) profile.plain++;
    } else if (isMissingMark(text)) profile.numeric++;
    if (profile.distinct.size < examinedRows)
      profile.distinct.set(text, (profile.distinct.get(text) ?? 0) + 1);
  }
  profile.averageLength = profile.filled === 0 ? 0 : length / profile.filled;
  return profile;
}

/** Columns of numbers, unless their title says that they are codes; if one is called value, only that. */
function takeValues(
  found: Columns,
  free: Set<number>,
  titles: readonly string[],
  profiles: readonly Profile[],
): void {
  const numeric = [...free].filter((at) => {
    const { filled, numeric: numbers, plain } = entryAt(profiles, at);
    const hasNumber = plain > 0 && plain * 5 >= numbers;
    return hasNumber && numbers >= filled * 0.9 && !titled.comment.test(entryAt(titles, at));
  });
  const named = numeric.find((at) => titled.value.test(entryAt(titles, at)));
  const values =
    named !== undefined ? [named] : numeric.filter((at) => !titled.code.test(entryAt(titles, at)));
  const chosen = values.length > 0 ? values : numeric;
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

/** Numbers beside the months of a year, such as its average, are of no month. */
function leaveNumbers(
  found: Columns,
  free: Set<number>,
  titles: readonly string[],
  profiles: readonly Profile[],
): void {
  for (const at of [...free]) {
    const { filled, numeric } = entryAt(profiles, at);
    if (filled === 0 || numeric < filled * 0.9 || titled.code.test(entryAt(titles, at))) continue;
    free.delete(at);
    found.ignored.set(at, besideParts);
  }
}

/** Why numbers beside the months of a year are not loaded. */
const besideParts = 'numbers of the whole year, beside its months or quarters';

/** Whether a column may yet be one to load. */
export const isDoubtful = (whyIgnored: string): boolean =>
  [besideParts, sayingDates].some((why) => whyIgnored.startsWith(why));

const isMeasure = (title: string) => !/code|\bid\b/i.test(title);

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
  const codes = [...free].find((at) => countMatching(all, at, new RegExp(isinForm)) * 2 > all.length);
  let body = all;
  if (codes !== undefined) {
    const matching = countMatching(all, codes, new RegExp(isinForm));
    if (matching < all.length)
      found.only = {
        column: codes,
        expression: isinForm,
        evidence: `${matching} of ${all.length} rows have an ISIN; the others are headings and totals`,
      };
    body = all.filter((row) => new RegExp(isinForm).test((row[codes] ?? '').trim()));
  }
  for (const at of [...free]) {
    const filled = body.filter((row) => (row[at] ?? '').trim() !== '').length;
    if (filled >= body.length * 0.95) continue;
    free.delete(at);
    found.ignored.set(at, `it is empty in ${body.length - filled} of ${body.length} rows with values`);
  }
  const profiles = new Map([...free].map((at) => [at, profileOf(body, at)]));
  const coarseFirst = [...free].toSorted(
    (a, b) =>
      entryOf(profiles, a).distinct.size - entryOf(profiles, b).distinct.size ||
      entryOf(profiles, b).averageLength - entryOf(profiles, a).averageLength,
  );
  const kept = new Set([...(found.key === null ? [] : [found.key]), ...free]);
  for (const at of coarseFirst) {
    const rest = [...kept].filter((each) => each !== at);
    if (rest.length === 0 || !isDetermined(body, rest, at)) continue;
    kept.delete(at);
    const by = rest.find((each) => isDetermined(body, [each], at));
    const of = by === undefined ? 'the others' : entryAt(titles, by);
    found.ignored.set(at, `it follows from ${of}`);
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

function countMatching(rows: readonly string[][], column: number, form: RegExp): number {
  return rows.filter((row) => form.test((row[column] ?? '').trim())).length;
}

/** Whether rows with the same texts in the columns `by` always have the same text in `column`. */
export function isDetermined(rows: readonly string[][], by: readonly number[], column: number): boolean {
  const texts = new Map<string, string>();
  for (const row of rows) {
    const key = by.map((at) => (row[at] ?? '').trim()).join('\u001f');
    const text = (row[column] ?? '').trim();
    const other = texts.get(key);
    if (other === undefined) texts.set(key, text);
    else if (other !== text) return false;
  }
  return true;
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
