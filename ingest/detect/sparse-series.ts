// Detects series with a lower frequency than their table: a quarterly column in a monthly table has a value in every third row, in all rows of a
// quarter, or in every third row up to a date.
import { entryAt } from '../../kernel/entries.ts';
import { nounOf } from '../../kernel/text/counted.ts';
import { isNumberText } from '../cells/cell-forms.ts';
import { dateOfBoth } from '../cells/dates/dates-of-table.ts';
import { remembering } from '../cells/dates/date-patterns.ts';
import type { Frequency } from '../../domain/periods.ts';
import { doubt, type Draft, type Seen } from './proposal/proposal.ts';
import {
  changeOfFrequency,
  lowerFrequency,
  periodOf,
  repeatedIn,
  type PointOfSeries,
} from './table/frequency.ts';
import { dateText, periodsAcross, type Layout } from './table/layout.ts';

/**
 * Sets the lower frequency for columns of values, or for all periods across the columns, as a guess. If only some series have a lower frequency, or
 * an empty cell would be a missing value, the frequency of the table stays and becomes a guess.
 * @param isSeveral whether each column of values is a series of its own.
 */
export function addLowerFrequencies(draft: Draft, seen: Seen, isSeveral: boolean): void {
  const { entry } = draft;
  const table = entry.series?.frequency;
  if (entry.series === undefined || table === undefined || table.includes('{')) return;
  const titles = seen.layout.titles;
  for (const [at, groups] of spansOfSeries(seen)) {
    const column = at === across ? null : entryAt(titles, at);
    doubtPoints(draft, table, groups, column);
    const found = [...groups]
      .filter(([, spans]) => spans.length > 2)
      .map(([name, spans]) => ({ name, lower: lowerFrequency(spans, table) }));
    const lower = found.filter((each): each is Lower => each.lower !== null);
    const [first] = lower;
    if (first === undefined) continue;
    const isOfAll = lower.length === found.length && lower.every(isLike(first));
    const once = `only once a ${periodOf[first.lower] ?? ''}`;
    if (isOfAll && isSeveral && column !== null) {
      entry.columns = { ...entry.columns, [column]: { ...entry.columns?.[column], frequency: first.lower } };
      doubt(draft, 'columns', `${column} has a value ${once}`);
    } else if (isOfAll && at === across && first.lower !== 'annual') {
      entry.series.frequency = first.lower;
      doubt(draft, 'series.frequency', `there is a value ${once}`);
    } else {
      const name = nameOf(first.name, column);
      const which = found.length === 1 ? name : `${lower.length} of ${found.length} series, such as ${name},`;
      const why = `${which} ${nounOf(lower.length, 'has', 'have')} a value ${once}: make a file for each frequency`;
      doubt(draft, 'series.frequency', why);
    }
  }
}

const nameOf = (series: string, column: string | null): string =>
  series === '' ? (column ?? 'the table') : series.slice(0, 60);

/** A series that changes its frequency, or that has one value for all months of a quarter or year, as a guess. */
function doubtPoints(
  draft: Draft,
  table: string,
  groups: ReadonlyMap<string, PointOfSeries[]>,
  column: string | null,
): void {
  for (const [series, points] of groups) {
    const change = changeOfFrequency(points);
    const repeated = change === null ? repeatedIn(points, table) : null;
    if (change === null && repeated === null) continue;
    const name = nameOf(series, column);
    const why =
      change === null
        ? `${name} has one value for all dates of each ${periodOf[repeated ?? 'annual'] ?? ''}, and may be ${repeated}`
        : `${name} has a value once a ${periodOf[change.before] ?? ''} up to ${change.at}, and once a ${periodOf[change.after] ?? ''} from then on: make a file for each frequency`;
    doubt(draft, 'series.frequency', why);
    return;
  }
}

interface Lower {
  name: string;
  lower: Frequency;
}

const isLike =
  (first: Lower) =>
  ({ lower }: Lower): boolean =>
    lower === first.lower;

/** Represents all columns of values of a table whose periods are across its columns. */
const across = -1;
/** The most series of a column that are examined. */
const seriesMax = 1_000;

/** By column of values and series: the dates at which it has a number. */
function spansOfSeries({ layout, columns, rows }: Seen): Map<number, Map<string, PointOfSeries[]>> {
  const by = [...(columns.key === null ? [] : [columns.key]), ...columns.dimensions];
  const found = new Map<number, Map<string, PointOfSeries[]>>();
  const { dates } = layout;
  if (dates.kind !== 'column' && dates.kind !== 'across') return found;
  const read = remembering(dates.found.read);
  const periods = dates.kind === 'across' ? periodsAcross(layout.titles, dates) : [];
  for (const row of rows) {
    const name = by.map((at) => (row[at] ?? '').trim()).join(', ');
    for (const [at, text, number] of datedCells(dates, { values: columns.values, periods }, row)) {
      const span = read(text);
      if (span === null || (span.kind !== dates.found.kind && span.kind !== 'day')) continue;
      const groups = found.get(at) ?? new Map<string, PointOfSeries[]>();
      found.set(at, groups);
      const points = groups.get(name);
      const point = { ...span, number };
      if (points !== undefined) points.push(point);
      else if (groups.size < seriesMax) groups.set(name, [point]);
    }
  }
  return found;
}

/** The cells of a row that have a number: their column, the text of their date, and the number. */
function datedCells(
  dates: Layout['dates'],
  { values, periods }: { values: readonly number[]; periods: readonly string[] },
  row: readonly string[],
): [number, string, string][] {
  const textAt = (at: number) => (row[at] ?? '').trim();
  const isFilled = (at: number) => isNumberText(textAt(at));
  if (dates.kind !== 'across')
    return values.filter(isFilled).map((at) => [at, dateText(row, dates), textAt(at)]);
  const own = dateText(row, dates);
  return dates.columns.flatMap((at, i): [number, string, string][] =>
    isFilled(at) ? [[across, dateOfBoth(own, entryAt(periods, i)), textAt(at)]] : [],
  );
}
