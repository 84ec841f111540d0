// Finds a crosstab: two lines of titles, one with periods and one with groups that recur for each of them, or one line with both.
import { isNumberText, isValueText } from '../../cells/cell-forms.ts';
import { isPart } from '../../cells/dates/carried-years.ts';
import { crossedColumns, CrosstabRows, type CrossedColumn } from '../../read/crosstab.ts';
import type { ColumnNumbers } from '../../read/workbook.ts';
import type { Sample } from '../../read/table-rows.ts';
import { detectDates } from './date-format.ts';
import { widthOf } from './header-lines.ts';
import { headRows, profiledRows } from './dates-across.ts';

/** The sample as its crosstab is read; the same sample if it has none. */
export function withoutCrosstab(sample: Sample): Sample {
  const { rows, lines } = sample;
  for (const [at, upper] of rows.slice(0, headRows).entries()) {
    for (const lowerAt of [at + 1, at]) {
      const lower = rows[lowerAt] ?? [];
      const crossed = crossedColumns(upper, lower);
      const arePeriodsAbove = periodsAbove(crossed);
      if (arePeriodsAbove === null || !isWhole(crossed, lower)) continue;
      const below = rows.slice(lowerAt + 1, lowerAt + 1 + profiledRows);
      if (!areNumbers(below, crossed) || !areOthersNamed(below, crossed, [upper, lower])) continue;
      const [first, last] = [lines[at] ?? 0, lines[lowerAt] ?? 0];
      const crosstab = arePeriodsAbove ? { periods: first, groups: last } : { periods: last, groups: first };
      const made = new CrosstabRows(crosstab);
      return { ...sample, ...made.of(sample), crosstab, ...numbersOf(sample, made) };
    }
  }
  return sample;
}

/** What is stored in the columns of a sheet that each column is made from. */
const numbersOf = ({ numbers }: Sample, { sources }: CrosstabRows): Pick<Sample, 'numbers'> =>
  numbers === undefined
    ? {}
    : {
        numbers: new Map(
          sources.map((columns, to) => {
            const stored = columns.flatMap((at) => numbers.get(at) ?? []);
            return [
              to,
              Object.assign({}, ...stored, {
                last: Math.max(-1, ...stored.map(({ last }) => last)),
              }) as ColumnNumbers,
            ];
          }),
        ),
      };

/** Whether the periods are in the upper line; null if neither line has periods over or under groups. */
function periodsAbove(crossed: readonly CrossedColumn[]): boolean | null {
  const [upper, lower] = [
    [...new Set(crossed.map((each) => each.upper))],
    [...new Set(crossed.map((each) => each.lower))],
  ];
  if (upper.length < 2 || lower.length < 2) return null;
  if (arePeriods(upper) && areGroups(lower)) return true;
  return arePeriods(lower) && areGroups(upper) ? false : null;
}

/** Dates with a year, in order. */
function arePeriods(texts: readonly string[]): boolean {
  if (!texts.every((text) => /\d{4}|^\p{L}{3,}\.?[\s-]'?\d{2}$/u.test(text) && text.length <= 32))
    return false;
  const found = detectDates(texts, { allowsNumbers: true, isTitles: true });
  const days = texts.map((text) => found?.read(text)?.from ?? '');
  const isOrder = (follows: (day: string, before: string) => boolean) =>
    days.every((day, at) => at === 0 || follows(day, days[at - 1] ?? ''));
  return (
    !days.includes('') && (isOrder((day, before) => day > before) || isOrder((day, before) => day < before))
  );
}

/** Words or signs that are not dates. At most half may look like parts of years: `Out` is October in Portuguese. */
const areGroups = (texts: readonly string[]): boolean =>
  !texts.some((text) => isNumberText(text)) &&
  texts.filter((text) => isPart(text)).length * 2 <= texts.length &&
  detectDates(texts) === null;

/** Whether each text of the upper line has the same ones below it, in the same order, and no other column is between them. */
function isWhole(crossed: readonly CrossedColumn[], lower: readonly string[]): boolean {
  const blocks = Map.groupBy(crossed, (each) => each.upper);
  const forms = new Set([...blocks.values()].map((block) => block.map((each) => each.lower).join('\u001f')));
  const [first, last] = [crossed[0]?.at ?? 0, crossed.at(-1)?.at ?? 0];
  const named = lower.slice(first, last + 1).filter((cell) => cell.trim() !== '');
  return (
    forms.size === 1 &&
    named.length === crossed.length &&
    new Set(crossed.map(({ upper, lower: below }) => `${upper}\u001f${below}`)).size === crossed.length
  );
}

const textsIn = (rows: readonly string[][], at: number): string[] =>
  rows.map((row) => (row[at] ?? '').trim()).filter((text) => text !== '');

/** Whether the rows have numbers in each group. */
function areNumbers(rows: readonly string[][], crossed: readonly CrossedColumn[]): boolean {
  return crossed.every(({ at }) => {
    const texts = textsIn(rows, at);
    return texts.filter(isValueText).length >= texts.length * 0.7 && texts.some((text) => isNumberText(text));
  });
}

/**
 * Whether each other column with numbers has a title, as a third line would have those of columns without one; and none has dates with a year: beside
 * them, the years of the titles are parts of names.
 */
function areOthersNamed(
  rows: readonly string[][],
  crossed: readonly CrossedColumn[],
  titles: readonly (readonly string[])[],
): boolean {
  const crossedAt = new Set(crossed.map(({ at }) => at));
  const others = Array.from({ length: widthOf(rows) }, (_, at) => at).filter((at) => !crossedAt.has(at));
  return others.every((at) => {
    const texts = textsIn(rows, at);
    const dated = [...new Set(texts.filter((text) => /\d{4}/.test(text)))];
    const isOfDates =
      dated.length * 2 >= texts.length && detectDates(dated, { allowsNumbers: true }) !== null;
    const isNamed = titles.some((row) => (row[at] ?? '').trim() !== '');
    return !(dated.length > 0 && isOfDates) && (isNamed || !texts.some((text) => isNumberText(text)));
  });
}
