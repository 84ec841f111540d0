// Finds columns of numbers that are not values but the dates again in numbers, years close to them, such as the end of a span, or week numbers.
import { addDays } from '../../../kernel/dates.ts';
import { entryAt } from '../../../kernel/entries.ts';
import { isDateTitle, hasWordOfKind } from '../../cells/dates/date-column-titles.ts';
import { numberForms, type DatedText } from '../../cells/dates/date-forms.ts';

const yearText = /(?<!\d)(?:1[5-9]|2[01])\d{2}(?!\d)/;
/** How far a year may be from the year of its row: with a title for dates, and without one. */
const [titledMost, untitledMost] = [100, 10];

type Span = Pick<DatedText, 'from' | 'to'>;

/** 2022.0417 and 2022.042 are days in January 2022. */
function dayOfDecimals(cell: string): Span | null {
  const [, year = '', fraction = ''] = /^(\d{4})(\.\d+)$/.exec(cell) ?? [];
  if (year === '' || year < '1500') return null;
  const day = addDays(`${year}-01-01`, Math.floor(Number(fraction) * 365));
  return { from: addDays(day, -2), to: addDays(day, 2) };
}

const numberReaders = [
  dayOfDecimals,
  ...numberForms.filter(({ format }) => !format.startsWith('decimal')).map(({ read }) => read),
];

/** Whether all numbers are, in one form, days within the periods of their rows. */
const areDates = (numbers: readonly { cell: string; span: Span | null }[]): boolean =>
  numberReaders.some((read) =>
    numbers.every(({ cell, span }) => {
      const own = read(cell);
      return own !== null && span !== null && own.from <= span.to && own.to >= span.from;
    }),
  );

/** @param columns the candidates. @param dates the columns of dates. @param rows the rows of data. */
export function columnsLikeDates(
  columns: readonly number[],
  titles: readonly string[],
  dates: readonly number[],
  rows: readonly string[][],
  spanOf: (row: readonly string[]) => Span | null,
): number[] {
  const texts = rows.map((row) => dates.map((at) => (row[at] ?? '').trim()).join(' '));
  const spans = rows.map(spanOf);
  return columns.filter((column) => {
    const title = entryAt(titles, column);
    const most = isDateTitle(title) ? titledMost : untitledMost;
    const numbers = rows.flatMap((row, at) => {
      const cell = (row[column] ?? '').trim();
      return cell === '' || texts[at] === ''
        ? []
        : [{ cell, date: texts[at] ?? '', span: spans[at] ?? null }];
    });
    if (numbers.length < 3 || new Set(numbers.map(({ cell }) => cell)).size < 2) return false;
    const areYears = numbers.every(
      ({ cell, date }) =>
        /^\d{4}$/.test(cell) && Math.abs(Number(cell) - Number(yearText.exec(date)?.[0] ?? 'NaN')) <= most,
    );
    const areWeeks = () => numbers.every(({ cell }) => /^\d{1,2}$/.test(cell) && Number(cell) <= 53);
    if (areYears || areDates(numbers)) return true;
    return isDateTitle(title) && hasWordOfKind('week', title) && areWeeks();
  });
}
