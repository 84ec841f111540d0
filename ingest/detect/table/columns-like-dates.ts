// Finds columns of numbers that are not values but years close to the dates, such as the end of a span, or week numbers.
import { entryAt } from '../../../kernel/entries.ts';
import { isDateTitle, hasWordOfKind } from '../../cells/dates/date-column-titles.ts';

const yearText = /(?<!\d)(?:1[5-9]|2[01])\d{2}(?!\d)/;
/** How far a year may be from the year of its row: with a title for dates, and without one. */
const [titledMost, untitledMost] = [100, 10];

/** @param columns the candidates. @param dates the columns of dates. @param rows the rows of data. */
export function columnsLikeDates(
  columns: readonly number[],
  titles: readonly string[],
  dates: readonly number[],
  rows: readonly string[][],
): number[] {
  const texts = rows.map((row) => dates.map((at) => (row[at] ?? '').trim()).join(' '));
  return columns.filter((column) => {
    const title = entryAt(titles, column);
    const most = isDateTitle(title) ? titledMost : untitledMost;
    const numbers = rows.flatMap((row, at) => {
      const cell = (row[column] ?? '').trim();
      return cell === '' || texts[at] === '' ? [] : [{ cell, date: texts[at] ?? '' }];
    });
    if (numbers.length < 3 || new Set(numbers.map(({ cell }) => cell)).size < 2) return false;
    const areYears = numbers.every(
      ({ cell, date }) =>
        /^\d{4}$/.test(cell) && Math.abs(Number(cell) - Number(yearText.exec(date)?.[0] ?? 'NaN')) <= most,
    );
    const areWeeks = () => numbers.every(({ cell }) => /^\d{1,2}$/.test(cell) && Number(cell) <= 53);
    return areYears || (isDateTitle(title) && hasWordOfKind('week', title) && areWeeks());
  });
}
