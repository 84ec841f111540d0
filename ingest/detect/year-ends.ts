// The day on which the years of annual series end, where it may be another one than the last of December, and years of another calendar.
import { monthEnd } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import { fiscalYearsIn, otherCalendarIn } from '../cells/dates/date-column-titles.ts';
import { dateColumns, dateText, periodsAcross, type Layout } from './table/layout.ts';
import { doubt, type Draft } from './proposal/proposal.ts';

/** @param above the lines above the data. */
export function addYearEnds(
  draft: Draft,
  table: { layout: Layout; rows: readonly string[][]; frequency: string; above: readonly string[][] },
): void {
  const { dates } = table.layout;
  const calendar = otherCalendar(table.layout, table.above);
  if (calendar !== undefined)
    doubt(draft, 'date', `"${calendar}" may name another calendar: write the years of the common era`);
  const japanese =
    dates.kind === 'column' && dates.found.kind === 'year'
      ? dateColumns(dates)
          .map((at) => entryAt(table.layout.titles, at))
          .find((title) => title.includes('年度'))
      : undefined;
  if (japanese !== undefined)
    doubt(
      draft,
      'date',
      `${japanese} may have years from April to March, as in Japan: they are read as calendar years`,
    );
  const isOfParts = 'found' in dates && (dates.found.kind === 'quarter' || dates.found.kind === 'half');
  const stated = isOfParts ? statedAbove(table.above) : null;
  if (stated !== null)
    doubt(draft, 'date', `${stated.why}, and parts of years are read as those of the calendar`);
  const fiscal = fiscalYears(table.layout, table.above);
  if (fiscal !== null) addFiscalYear(draft, fiscal);
  else if (table.frequency === 'annual') addYearEnd(draft, table.layout, table.rows);
}

/** The words of a title of the dates, or of a line above them, that name another calendar: its years look like those of the common era. */
function otherCalendar({ dates, titles }: Layout, above: readonly string[][]): string | undefined {
  const places = dates.kind === 'column' || dates.kind === 'across' ? dateColumns(dates) : [];
  return [
    ...places.map((at) => otherCalendarIn(entryAt(titles, at), true)),
    ...above.flat().map((text) => otherCalendarIn(text, false)),
  ].find((words) => words !== null);
}

/** Why the years of the dates are fiscal ones, and the month in which they end if that is stated; or null. */
function fiscalYears(
  { dates, titles }: Layout,
  above: readonly string[][],
): { why: string; month: number | null } | null {
  if (dates.kind !== 'column' && dates.kind !== 'across') return null;
  if (dates.found.kind === 'fiscal year')
    return {
      why: 'the dates are years that begin in one calendar year and end in the next',
      month: null,
    };
  if (dates.found.kind !== 'year') return null;
  const [at, part] = dateColumns(dates);
  const title = at === undefined || part !== undefined ? '' : entryAt(titles, at);
  const ofTitle = fiscalYearsIn(title, true);
  if (ofTitle !== null) return { why: `${title} has fiscal years`, ...ofTitle };
  return statedAbove(above);
}

/** The fiscal years that a line above the data states. */
function statedAbove(above: readonly string[][]): { why: string; month: number | null } | null {
  for (const text of above.flat().map((cell) => cell.trim())) {
    const stated = text.length > 200 ? null : fiscalYearsIn(text, false);
    if (stated !== null)
      return { why: `"${text.slice(0, 60)}" says that the years are fiscal ones`, ...stated };
  }
  return null;
}

/** Common ends of fiscal years: the file seldom states which one it uses. */
function addFiscalYear(
  { entry, evidence, guessed }: Draft,
  { why, month }: { why: string; month: number | null },
): void {
  if (entry.series === undefined) return;
  const end = month === null ? '06-30' : monthEnd(2023, month).slice(5);
  Object.assign(entry.series, { frequency: 'annual', fiscal_year_end: end });
  evidence['series.fiscal_year_end'] =
    month === null
      ? `${why}, and no line states the day: 03-31, 06-30 and 09-30 are common`
      : `${why}, and names the month of ${end}`;
  guessed.push('series.fiscal_year_end');
}

/**
 * Annual values that are all dated to one month other than December, or to one day other than 1 January. Months are taken for the ends of their
 * years. A day such as 30 June is taken for the middle of a calendar year. Both are guesses.
 */
function addYearEnd(draft: Draft, { dates, titles }: Layout, rows: readonly string[][]): void {
  if (draft.entry.series === undefined || (dates.kind !== 'column' && dates.kind !== 'across')) return;
  const { kind, read } = dates.found;
  if (kind !== 'day' && kind !== 'month') return;
  const texts =
    dates.kind === 'column' ? rows.map((row) => dateText(row, dates)) : periodsAcross(titles, dates);
  const days = texts.flatMap((text) => read(text)?.to ?? []);
  const [day = ''] = days;
  if (days.some((each) => each.slice(5, 7) !== day.slice(5, 7)) || /^(?:01-01|12-..|)$/.test(day.slice(5)))
    return;
  const end = kind === 'day' ? '12-31' : monthEnd(Number(day.slice(0, 4)), Number(day.slice(5, 7))).slice(5);
  Object.assign(draft.entry.series, { fiscal_year_end: end });
  doubt(
    draft,
    'series.fiscal_year_end',
    `all dates are of one month of the year, such as ${day}: the years are taken to end on ${end}`,
  );
}
