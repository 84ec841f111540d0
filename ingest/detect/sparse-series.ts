// Detects series with a lower frequency than their table: a quarterly column in a monthly table has a value in every third row.
import { entryAt } from '../../kernel/entries.ts';
import { nounOf } from '../../kernel/text/counted.ts';
import { isNumberText } from '../cells/cell-forms.ts';
import type { DatedText } from '../cells/dates/date-forms.ts';
import { remembering } from '../cells/dates/date-patterns.ts';
import type { Frequency } from '../../domain/periods.ts';
import { doubt, type Draft, type Seen } from './proposal.ts';
import { lowerFrequency, periodOf } from './table/frequency.ts';
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
    const found = [...groups]
      .filter(([, spans]) => spans.length > 2)
      .map(([name, spans]) => ({ name, lower: lowerFrequency(spans, table) }));
    const lower = found.filter((each): each is Lower => each.lower !== null);
    const [first] = lower;
    if (first === undefined) continue;
    const isOfAll = lower.length === found.length && lower.every(isLike(first));
    const column = at === across ? null : entryAt(titles, at);
    const once = `only once a ${periodOf[first.lower] ?? ''}`;
    if (isOfAll && isSeveral && column !== null) {
      entry.columns = { ...entry.columns, [column]: { ...entry.columns?.[column], frequency: first.lower } };
      doubt(draft, 'columns', `${column} has a value ${once}`);
    } else if (isOfAll && at === across && first.lower !== 'annual') {
      entry.series.frequency = first.lower;
      doubt(draft, 'series.frequency', `there is a value ${once}`);
    } else {
      const name = first.name === '' ? (column ?? 'the table') : first.name.slice(0, 60);
      const which = found.length === 1 ? name : `${lower.length} of ${found.length} series, such as ${name},`;
      const why = `${which} ${nounOf(lower.length, 'has', 'have')} a value ${once}: make a file for each frequency`;
      doubt(draft, 'series.frequency', why);
    }
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
function spansOfSeries({ layout, columns, rows }: Seen): Map<number, Map<string, DatedText[]>> {
  const by = [...(columns.key === null ? [] : [columns.key]), ...columns.dimensions];
  const found = new Map<number, Map<string, DatedText[]>>();
  const { dates } = layout;
  if (dates.kind !== 'column' && dates.kind !== 'across') return found;
  const read = remembering(dates.found.read);
  const periods = dates.kind === 'across' ? periodsAcross(layout.titles, dates) : [];
  for (const row of rows) {
    const name = by.map((at) => (row[at] ?? '').trim()).join(', ');
    for (const [at, text] of datedCells(dates, { values: columns.values, periods }, row)) {
      const span = read(text);
      if (span === null || (span.kind !== dates.found.kind && span.kind !== 'day')) continue;
      const groups = found.get(at) ?? new Map<string, DatedText[]>();
      found.set(at, groups);
      const spans = groups.get(name);
      if (spans !== undefined) spans.push(span);
      else if (groups.size < seriesMax) groups.set(name, [span]);
    }
  }
  return found;
}

/** The cells of a row that have a number: their column, and the text of their date. */
function datedCells(
  dates: Layout['dates'],
  { values, periods }: { values: readonly number[]; periods: readonly string[] },
  row: readonly string[],
): [number, string][] {
  const isFilled = (at: number) => isNumberText(row[at] ?? '');
  if (dates.kind !== 'across') return values.filter(isFilled).map((at) => [at, dateText(row, dates)]);
  const year = dateText(row, dates);
  return dates.columns.flatMap((at, i): [number, string][] =>
    isFilled(at) ? [[across, `${year} ${entryAt(periods, i)}`.trim()]] : [],
  );
}
