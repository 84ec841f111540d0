// Other possible meanings of the columns of a table.
import { entryAt } from '../../../kernel/entries.ts';
import { isNumberText } from '../../cells/cell-forms.ts';
import { isDateTitle } from '../../cells/dates/date-column-titles.ts';
import { areDecimals, isDetermined } from '../table/column-profile.ts';
import { followsFrom } from '../table/dimensions.ts';
import { detectDates } from '../table/date-format.ts';
import { dateText, distinctIn, type Layout } from '../table/layout.ts';
import { doubt, type Draft, type Seen } from './proposal.ts';

/** A column of whole numbers may be a code if all are equal, or a row number if it counts from 0 or 1 and is left of the dates. */
export function doubtNumbers(
  draft: Draft,
  { layout: { dates, titles }, columns: { values, dimensions }, rows }: Seen,
): void {
  if (dates.kind !== 'column' || values.length < 2) return;
  const groups = new Set(rows.map((row) => dimensions.map((at) => row[at] ?? '').join('\u001f'))).size;
  for (const at of values) {
    const texts = rows.map((row) => (row[at] ?? '').trim()).filter((text) => text !== '');
    const [first = ''] = texts;
    if (
      groups > 1 &&
      groups * 3 <= rows.length &&
      new Set(texts).size > 1 &&
      isDetermined(rows, dimensions, at)
    )
      doubt(
        draft,
        'values',
        `${entryAt(titles, at)} never changes in time, and may describe its row, as a weight does`,
      );
    if (texts.length < 3 || !/^\d{1,9}$/.test(first)) continue;
    const counts = texts.every((text, place) => text === String(Number(first) + place));
    const isOfNumbers = /^(?:no|nr|num|number|seq)\b/i.test(entryAt(titles, at));
    const isNumberOfRow = counts && Number(first) < 2 && (isOfNumbers || at < entryAt(dates.columns, 0));
    if (texts.every((text) => text === first))
      doubt(draft, 'values', `${entryAt(titles, at)} is ${first} in every row, and may be a code`);
    else if (isNumberOfRow)
      doubt(draft, 'values', `${entryAt(titles, at)} counts the rows, and may be a row number, not a value`);
  }
}

/** A title that ends with a day, as ALFRED writes vintages (`GDP_20240125`), or with a quarter or month of a year of two digits (`ROUTPUT65Q4`). */
const vintageTitle =
  /^(.*\p{L}.*?)[ _-]?(?:(?:19|20)\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])|\d\d(?:Q[1-4]|M\d{1,2}))$/u;

/** Columns beside a column of dates whose titles differ only in a date may be vintages of one series. */
export function doubtVintages(draft: Draft, { layout: { dates, titles }, columns: { values } }: Seen): void {
  if (dates.kind !== 'column' || values.length < 2) return;
  const names = values.map((at) => vintageTitle.exec(entryAt(titles, at))?.[1]);
  if (names[0] === undefined || new Set(names).size > 1) return;
  const [first, last] = [entryAt(values, 0), entryAt(values, values.length - 1)];
  doubt(
    draft,
    'values',
    `${entryAt(titles, first)} to ${entryAt(titles, last)} may be vintages of one series: load each as a vintage, not as a series of its own`,
  );
}

/** Two columns of one title are of different things, which no title states. */
export function doubtTitles(draft: Draft, { layout: { dates, titles }, columns: { values } }: Seen): void {
  if (dates.kind !== 'column') return;
  const names = values.map((at) => entryAt(titles, at));
  const repeated = names
    .map((name) => name.replace(/ \(\d+\)$/, ''))
    .find((name, at) => name !== names[at] && names.includes(name));
  if (repeated !== undefined)
    doubt(draft, 'values', `several columns have the title ${repeated}, and no line says how they differ`);
}

/** A dimension that has one text for each date of a series may hold comments. As a dimension, it would split the series. */
export function doubtDimensions(draft: Draft, { layout: { dates, titles }, columns, rows }: Seen): void {
  if (dates.kind !== 'column') return;
  const others = [columns.key, columns.vintage?.at ?? null].filter((at) => at !== null);
  const filled = rows.filter((row) => columns.values.some((at) => isNumberText(row[at] ?? '')));
  const needless = columns.dimensions.filter((dimension) => {
    if (isLengthOfPeriod(dimension, dates, filled)) return false;
    const by = [...others, ...columns.dimensions.filter((at) => at !== dimension)];
    const seen = new Set<string>();
    for (const row of filled) {
      const point = [dateText(row, dates), ...by.map((at) => (row[at] ?? '').trim())].join('\u001f');
      if (seen.has(point)) return false;
      seen.add(point);
    }
    return true;
  });
  if (needless.length === 0) return;
  const named = needless.map((at) => entryAt(titles, at)).join(', ');
  doubt(
    draft,
    'dimensions',
    `no two points of one date differ only in ${named}: it may hold comments, and as a dimension it would split the series`,
  );
}

/** A dimension of decimals, or of dates beside years across the columns, may be something else; one of numbers may leave out their names. */
export function doubtNumbersAndDates(draft: Draft, { layout: { dates, titles }, columns, rows }: Seen): void {
  const body = rows.filter((row) => columns.values.some((at) => isNumberText(row[at] ?? '')));
  const areNumbers = (at: number) => distinctIn(body, at).every((text) => isNumberText(text));
  const [first] = columns.dimensions;
  const named = [...columns.ignored].find(
    ([at, why]) =>
      why.startsWith(followsFrom) && distinctIn(body, at).every((text) => /\p{L}{2}/u.test(text)),
  );
  if (
    first !== undefined &&
    named !== undefined &&
    columns.key === null &&
    columns.dimensions.every(areNumbers)
  )
    doubt(
      draft,
      'dimensions',
      `the numbers of ${entryAt(titles, first)} name the series, and not ${entryAt(titles, named[0])}, which has one text for several of them`,
    );
  for (const at of columns.dimensions) {
    const texts = distinctIn(body, at);
    const title = entryAt(titles, at);
    if (dates.kind === 'column' && dates.found.kind === 'year' && isDateTitle(title))
      doubt(
        draft,
        'dimensions',
        `${title} may have the day or the part of each year, as in "${texts[0] ?? ''}"`,
      );
    if (areDecimals(texts)) doubt(draft, 'dimensions', `${title} has decimals, which may be values`);
    const found = dates.kind === 'across' && dates.year === null ? detectDates(texts, { title }) : null;
    if (found !== null && found.kind !== 'year' && found.unread.length === 0 && texts.length > 1)
      doubt(draft, 'dimensions', `${title} has dates, as the titles have: the titles may be names`);
  }
}

/** Whether the column states the length of each row's period: month, quarter or year. */
function isLengthOfPeriod(
  column: number,
  dates: Extract<Layout['dates'], { kind: 'column' }>,
  rows: readonly string[][],
): boolean {
  const kinds = rows.map((row) => [
    (row[column] ?? '').trim(),
    dates.found.read(dateText(row, dates))?.kind ?? '',
  ]);
  return isDetermined(kinds, [0], 1) && new Set(kinds.map(([, kind]) => kind)).size > 1;
}
