// Dates in two parts of a table: the year in a column, and the month, quarter or half in another column, or in the titles of the columns of
// values. The texts of both, joined by a space, are read as one.
import { entryAt } from '../../../kernel/entries.ts';
import { isNumberText, isValueText } from '../../cells/cell-forms.ts';
import { isPart } from '../../cells/dates/carried-years.ts';
import type { PeriodKind } from '../../cells/dates/date-forms.ts';
import { fiscalYearsIn, hasWordOfKind } from '../../cells/dates/date-column-titles.ts';
import { monthNamed } from '../../cells/dates/month-names.ts';
import { isDetermined } from './column-profile.ts';
import { monthsIn } from './moving-periods.ts';
import { detectDates, type DatesFound } from './date-format.ts';
import { distinctIn, filledDown, periodsAcross, type Layout } from './layout.ts';

/** The layout, with the months or quarters of its years if it has them; or why it cannot be read. @param rows the rows of data. */
export function withParts(layout: Layout, rows: readonly string[][]): Layout | string {
  const { dates, titles } = layout;
  if (dates.kind === 'across') return withPartsDown(layout, dates, rows);
  if (dates.kind !== 'column') return layout;
  const year = entryAt(dates.columns, 0);
  const isFiscal = fiscalYearsIn(entryAt(titles, year), true) !== null;
  if ((isFiscal || dates.found.kind === 'fiscal year') && partTitles(titles, year) !== null)
    return `${entryAt(titles, year)} has fiscal years, and titles are parts of a year: put the dates into the titles, as in Apr 2024`;
  if (dates.found.kind === 'fiscal year' && isParts(partColumn(rows, titles, year)))
    return `${entryAt(titles, year)} has fiscal years, and another column their parts: put the calendar year into each text, as in 2024-07`;
  if (dates.found.kind !== 'year') return layout;
  const across = partTitles(titles, year);
  if (typeof across === 'string') return across;
  if (across !== null)
    return {
      ...layout,
      dates: { kind: 'across', year, isFilled: isStatedOnce(rows, year), after: '', others: [], ...across },
    };
  const isFilled = isStatedOnce(rows, year);
  const part = partColumn(isFilled ? filledDown(rows, [year]) : rows, titles, year);
  if (part === null) return layout;
  if (typeof part === 'string') return part;
  const first = firstOfFiscal(isFilled ? filledDown(rows, [year]) : rows, year, part);
  if (isFiscal || first !== null)
    return `${entryAt(titles, year)} has fiscal years${first === null ? '' : `, which begin with "${first}"`}, and ${entryAt(titles, part.column)} their parts: put the calendar year into each text, as in 2024-07`;
  const day = part.found.kind === 'month' ? dayColumn(rows, titles, [year, part.column]) : null;
  return {
    ...layout,
    dates:
      day === null
        ? { kind: 'column', columns: [year, part.column], found: part.found, isFilled, others: part.others }
        : {
            kind: 'column',
            columns: [year, part.column, day.column],
            found: day.found,
            isFilled,
            others: [],
          },
  };
}

/** The layout of years across the columns, with the column of their months or quarters if it has one; or why it cannot be read. */
function withPartsDown(
  layout: Layout,
  dates: Extract<Layout['dates'], { kind: 'across' }>,
  rows: readonly string[][],
): Layout | string {
  const { titles } = layout;
  const isFiscal = dates.found.kind === 'fiscal year';
  if ((dates.found.kind !== 'year' && !isFiscal) || dates.year !== null) return layout;
  const body = rows.filter((row) => dates.columns.some((at) => isNumberText(row[at] ?? '')));
  for (const [column, title] of titles.entries()) {
    const texts = distinctIn(body, column);
    if (dates.columns.includes(column) || texts.length > partsMax) continue;
    if (texts.every((text) => isValueText(text) || text === title) && !isPartTitle(title)) continue;
    const { parts, found } = withoutWholeYears(texts, title);
    if (parts.length < 2 || found === null || found.kind === 'year' || found.kind === 'day') {
      if (mayBeParts(texts, title)) return unknownPart(title, texts[0] ?? '');
      continue;
    }
    if (found.unread.length > 0) return unknownPart(title, (found.unread[0] ?? '').slice(5));
    if (!areSuccessive(found, parts)) continue;
    if (isFiscal)
      return `its titles are fiscal years, and ${title} has their parts: put the calendar year into each text, as in ${parts[0] ?? ''} 2024`;
    if (isRotated(parts.map((part) => found.read(`2000 ${part}`)?.from ?? '')))
      return `${title} has the parts of a year from ${parts[0] ?? ''} to ${parts.at(-1) ?? ''}, and no line states the calendar year of the first ones: put the calendar year into each text, as in ${parts[0] ?? ''} 2024`;
    const years = periodsAcross(titles, dates);
    const read = detectDates(
      years.flatMap((year) => parts.map((part) => `${year} ${part}`)),
      { title },
    );
    if (read === null || read.unread.length > 0)
      return `its titles are years, and ${title} has their parts, but "${read?.unread[0] ?? `${years[0] ?? ''} ${parts[0] ?? ''}`}" is no date that is known: write the titles as 2024, and the parts as January or Q1`;
    const evidence = `${dates.columns.length} titles are years, and ${title} has what they are divided into, such as "${parts[0] ?? ''}"`;
    const others = texts.filter((text) => !parts.includes(text));
    const isFilled = isStatedOnce(rows, column);
    return {
      ...layout,
      dates: { ...dates, year: column, isFilled, others, found: withEvidence(read, evidence) },
    };
  }
  return layout;
}

/**
 * The first month or quarter of a fiscal year, such as July, if every year of the table begins with it. Null if the parts are in calendar
 * order, or in no common order.
 */
function firstOfFiscal(
  rows: readonly string[][],
  year: number,
  { column, found }: Parts & { column: number },
): string | null {
  const least = { month: 6, quarter: 4 }[found.kind as string];
  if (least === undefined) return null;
  const years = new Map<string, Map<string, string>>();
  for (const row of rows) {
    const [of, part] = [(row[year] ?? '').trim(), (row[column] ?? '').trim()];
    const span = found.read(`${of} ${part}`);
    if (span?.kind !== found.kind) continue;
    const parts = years.get(of) ?? new Map<string, string>();
    years.set(of, parts);
    if (!parts.has(span.from)) parts.set(span.from, part);
  }
  const whole = [...years.values()].filter(({ size }) => size >= least);
  const firsts = whole.map((parts) =>
    isRotated([...parts.keys()]) ? ([...parts.values()][0] ?? null) : null,
  );
  const [first = null] = firsts;
  return firsts.every((each) => each === first) ? first : null;
}

/** Whether the days ascend with a single wrap-around, as in July to December, January to June. */
function isRotated(days: readonly string[]): boolean {
  const falls = days.flatMap((day, at) => (at > 0 && day < entryAt(days, at - 1) ? [at] : []));
  const [fall, other] = falls;
  return (
    fall !== undefined && other === undefined && entryAt(days, days.length - 1) < entryAt(days, 0) && fall > 1
  );
}

/** The column of the days of the months, by its title, if every row has one. @param columns of the years and months. */
function dayColumn(
  rows: readonly string[][],
  titles: readonly string[],
  columns: readonly number[],
): (Parts & { column: number }) | null {
  for (const [column, title] of titles.entries()) {
    if (columns.includes(column) || !hasWordOfKind('day', title)) continue;
    const days = distinctIn(rows, column);
    if (days.length < 2 || !days.every((text) => /^(?:0?[1-9]|[12]\d|3[01])$/.test(text))) continue;
    const places = [...columns, column];
    const texts = rows.map((row) => places.map((at) => (row[at] ?? '').trim()).join(' '));
    const found = detectDates([...new Set(texts)]);
    if (found === null || found.kind !== 'day' || found.unread.length > 0) continue;
    const named = places.map((at) => entryAt(titles, at));
    return { column, found: withEvidence(found, `${named.join(', ')} have the years, months and days`) };
  }
  return null;
}

/** Whether the year is only in the first row of its months: the rows below have an empty cell and values. */
function isStatedOnce(rows: readonly string[][], year: number): boolean {
  const full = rows.filter((row) => row.some((cell, at) => at !== year && isNumberText(cell)));
  const empty = full.filter((row) => (row[year] ?? '').trim() === '').length;
  return empty * 2 >= full.length && (full[0]?.[year] ?? '').trim() !== '';
}

/** Whether a title names a column of months, quarters, halves or weeks. */
const isPartTitle = (title: string): boolean =>
  title.length <= 24 && partKinds.some((kind) => hasWordOfKind(kind, title));
const partKinds = ['month', 'quarter', 'half', 'week'] as const;

/** Whether the texts are as many as months or quarters, below a title of such. */
const mayBeParts = (texts: readonly string[], title: string): boolean =>
  (isPartTitle(title) || hasWordOfKind('period', title)) &&
  (texts.length === 12 || texts.length === 4) &&
  !texts.every(isNumberText);

/** The only kind of parts that a title names; null if it names none, or several. */
function statedParts(title: string): PeriodKind | null {
  const [kind = null, other] = partKinds.filter((each) => hasWordOfKind(each, title));
  return other === undefined ? kind : null;
}
/** Labels of a year's total beside its months. */
const wholeYear =
  /^(?:m13|s0?[123]|a|a0?1|q0?5|half ?[12]|h[12]|fy|annual(?:ly)?|years?|full[ -]year|total|sum|all|average|avg|mean|ytd|jahr|insgesamt|gesamt|durchschnitt|ann[ée]e|ensemble|moyenne|a[nñ]o|promedio|media|anno|totale|totaal|jaar|gemiddelde|[aå]r|hele [aå]ret|genomsnitt|gjennomsnitt|totalt|i alt|medel|yhteensä|keskiarvo|razem|ogółem|średnia|celkem|průměr|spolu|priemer|skupaj|povprečje|ukupno|prosek|összesen|átlag|kokku|keskmine|kopā|vidēji|iš viso|vidurkis|toplam|ortalama|jumlah|rata-rata|tahunan|σύνολο|μέσος όρος|итого|всего|среднее|всього|общо|средно|合[计計]|总计|総[数計]|[总総]|平均|합계|평균)(?:[\s.:(].*)?$/iu;
const partsMax = 53;

interface Parts {
  found: DatesFound;
}

const isParts = (part: ReturnType<typeof partColumn>): boolean => part !== null && typeof part !== 'string';

/** The column of the months or quarters of the years, if there is one: the rows of one year with equal texts in the other columns differ in it. */
function partColumn(
  rows: readonly string[][],
  titles: readonly string[],
  year: number,
): (Parts & { column: number; others: string[] }) | string | null {
  const distinct = titles.map((_, at) => distinctIn(rows, at));
  // A column with nearly as many texts as rows identifies the row, not the month.
  const groupColumns = titles.flatMap((_, at) => {
    const texts = entryAt(distinct, at);
    return at !== year && texts.length * 2 <= rows.length && !texts.every(isValueText) ? [at] : [];
  });
  for (const [column, title] of titles.entries()) {
    const texts = entryAt(distinct, column);
    if (column === year || texts.length < 2 || texts.length > partsMax) continue;
    if (isDetermined(rows, [year, ...groupColumns.filter((at) => at !== column)], column)) continue;
    const isNamed = isPartTitle(title);
    // A heading among the rows may have the title again.
    if (texts.every((text) => isValueText(text) || text === title) && !isNamed) continue;
    const { parts, found } = withoutWholeYears(texts, title);
    if (found === null || found.kind === 'year' || found.kind === 'day') {
      if (mayBeParts(texts, title)) return unknownPart(title, texts[0] ?? '');
      continue;
    }
    if (found.unread.length > 0) return unknownPart(title, (found.unread[0] ?? '').slice(5));
    const stated = statedParts(title);
    if (stated !== null && stated !== found.kind && texts.every(isNumberText))
      return unknownPart(title, texts.toSorted((a, b) => Number(b) - Number(a))[0] ?? '');
    const [first = ''] = parts;
    const others = texts.filter((text) => !parts.includes(text));
    return {
      column,
      others,
      found: withEvidence(
        found,
        `${entryAt(titles, year)} has the years, and ${title} what they are divided into, such as "${first}"`,
      ),
    };
  }
  return null;
}

const stepOf: Readonly<Record<string, number>> = { month: 1, quarter: 3, half: 6 };

/**
 * Whether the texts are parts of a year, all different and without a gap, or the months that end quarters or halves. In some languages the name of a month means a yearly figure in
 * others: `avg` is August beside July or September, and the average beside January to April.
 */
function areSuccessive({ read, kind, unread }: DatesFound, texts: readonly string[]): boolean {
  const starts = texts.flatMap((text) => {
    const span = read(`2000 ${text}`);
    return span?.kind === kind ? [Number(span.from.slice(5, 7))] : [];
  });
  const sorted = starts.toSorted((a, b) => a - b);
  const [first = 0, second = 0] = sorted;
  const step = kind === 'month' && [3, 6].includes(second - first) ? second - first : stepOf[kind as string];
  return (
    unread.length === 0 &&
    starts.length === texts.length &&
    sorted.every((start, at) => at === 0 || start - entryAt(sorted, at - 1) === step)
  );
}

/** The texts without labels of yearly totals. */
function withoutWholeYears(
  texts: readonly string[],
  title: string,
): { parts: readonly string[]; found: DatesFound | null } {
  const detected = (parts: readonly string[]) =>
    detectDates(
      parts.map((text) => `2004 ${text}`), // a leap year with 53 weeks
      { title },
    );
  const all = detected(texts);
  if (all !== null && areSuccessive(all, texts)) return { parts: texts, found: all };
  const parts = texts.filter((text) => !wholeYear.test(text));
  if (parts.length > 0) return { parts, found: detected(parts) };
  // Without months or quarters, halves are the parts: S01, S02 and the year S03.
  const halves = texts.filter((text) => detected([text])?.kind === 'half');
  return { parts: halves, found: detected(halves) };
}

const unknownPart = (title: string, text: string): string =>
  `the column ${title} divides the years, and "${text}" in it is neither a month nor a quarter that is known: give the columns of the dates, and their format, under date`;

const withEvidence = (found: DatesFound, evidence: string): DatesFound => ({
  ...found,
  evidence: found.isSure ? evidence : `${evidence}; ${found.others.join('; ')}`,
});

/** The columns whose titles are months or quarters, in their order, beside a column of years. */
function partTitles(
  titles: readonly string[],
  year: number,
): (Parts & { columns: number[] }) | string | null {
  const named = titles.flatMap((title, at) => (at !== year && isPart(title) ? [at] : []));
  const all = detectDates(named.map((at) => `2000 ${entryAt(titles, at)}`));
  const namedTitles = named.map((at) => entryAt(titles, at));
  const candidates =
    all !== null && areSuccessive(all, namedTitles)
      ? named
      : named.filter((at) => !wholeYear.test(entryAt(titles, at)));
  const numbered = titles.flatMap((title, at) =>
    at !== year && /^(?:0?[1-9]|1[0-2])$/.test(title) ? [at] : [],
  );
  const roman = titles.flatMap((title, at) =>
    at !== year && /^(?:I|II|III|IV|V|VI|VII|VIII|IX|X|XI|XII)$/.test(title) ? [at] : [],
  );
  const columns =
    roman.length === 12 ? roman : candidates.length < 2 && numbered.length === 12 ? numbered : candidates;
  if (columns.length < 2) return null;
  const found = detectDates(
    columns.map((at) => `2000 ${entryAt(titles, at)}`),
    { title: columns.length === 12 ? 'month' : '' },
  );
  if (found === null || found.kind === 'year' || found.kind === 'day') return null;
  const read = columns.filter((at) => found.read(`2000 ${entryAt(titles, at)}`)?.kind === found.kind);
  const least = { month: 3, quarter: 3, half: 2 }[found.kind as string] ?? 3;
  const froms = read.map((at) => found.read(`2000 ${entryAt(titles, at)}`)?.from ?? '');
  const [first = 0, last = 0] = [read[0], read.at(-1)];
  if (read.length < least) return null;
  if (froms.some((from, at) => at > 0 && from <= entryAt(froms, at - 1)))
    return read.length === 12 && new Set(froms).size === 12
      ? `its titles are months from ${entryAt(titles, first)} to ${entryAt(titles, last)}, and no line states the calendar year of the first ones: put the dates into the titles, as in ${entryAt(titles, first)} 2024`
      : null;
  // A title among the months may be a month in an unknown spelling: its values would be lost.
  const unread = titles.filter(
    (title, at) =>
      at > first &&
      at < last &&
      !read.includes(at) &&
      !isPart(title) &&
      !wholeYear.test(title) &&
      !/^column \d+$/.test(title) &&
      !/flag|status/i.test(title),
  );
  if (unread.length > 0 && froms.length < 12)
    return `${read.length} titles are parts of a year, such as ${entryAt(titles, first)}, and "${unread[0] ?? ''}" among them is not known: give the language of the names, or their format, under date`;
  return {
    columns: read,
    found: withEvidence(
      found,
      `${entryAt(titles, year)} has the years, and ${read.length} titles what they are divided into, from ${entryAt(titles, first)} to ${entryAt(titles, last)}`,
    ),
  };
}

/**
 * Columns that may have the months or quarters of the years, or be one, and were not used as such. @param columns values and dimensions.
 */
export function possibleParts(
  columns: readonly number[],
  titles: readonly string[],
  rows: readonly string[][],
): number[] {
  return columns.filter((at) => {
    const title = entryAt(titles, at);
    const bare = title.replace(/[\s:]*[([].*$/, '');
    if (isPartTitle(title) || (isPart(bare) && /\p{L}/u.test(bare))) return true;
    if (monthsIn(`2000 ${bare}`) !== null) return true;
    const texts = distinctIn(rows, at);
    return (
      texts.length >= 2 &&
      texts.filter((text) => /\p{L}/u.test(text) && isPart(text)).length * 4 >= texts.length * 3
    );
  });
}

const numberedPart = /(?<![\p{L}\d])(?:q|h|t|qtr|quarter|half)[ .]?([1-4])(?![\p{L}\d])/iu;

/** The columns whose titles have successive months or quarters, as `Value-Jan` and `Value-Feb`, or `Sales Q1` and `Sales Q2`. */
export function namingParts(columns: readonly number[], titles: readonly string[]): number[] {
  const months = columns.map((at) => {
    const part = numberedPart.exec(entryAt(titles, at))?.[1];
    if (part !== undefined) return Number(part);
    return entryAt(titles, at)
      .split(/[^\p{L}\p{M}]+/u)
      .map((word) => monthNamed(word, 'en'))
      .find((month) => month !== null);
  });
  const numbers = [...new Set(months.filter((month) => month !== undefined))];
  if (numbers.length < 2 || Math.max(...numbers) - Math.min(...numbers) >= numbers.length) return [];
  return columns.filter((_, each) => months[each] !== undefined);
}
