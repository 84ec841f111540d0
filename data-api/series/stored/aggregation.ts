// Aggregates the points of a series to a lower frequency as a stream; docs/transforms.md has the rules. Decides which stored points a
// period needs, and when a period is complete.
import {
  addDays,
  addMonths,
  dayNumber,
  fromDayNumber,
  isWeekend,
  withinCalendar,
} from '../../../kernel/dates.ts';
import { entryAt } from '../../../kernel/entries.ts';
import type { Aggregate, TargetFrequency } from '../../../domain/aggregates.ts';
import { monthsPerPeriod, periodEnd, type Frequency } from '../../../domain/periods.ts';
import { compareDecimals, decimal, mean, sum, type Decimal } from '../../decimal.ts';
import { appendPoints, noPoints, type Points } from './point-columns.ts';

/** How points are aggregated to a lower frequency. */
export interface Aggregation {
  /** The frequency of the stored points. */
  source: Frequency;
  target: TargetFrequency;
  aggregate: Aggregate;
  /** The least decimals of a mean. */
  meanDecimals: number;
  /** Whether incomplete periods have a value too. */
  incomplete: boolean;
  /** `MM-DD`, for annual periods. */
  fiscalYearEnd: string | null;
  /** The first dates in another unit, ascending: a period with points on either side of one has no value. */
  breaks: readonly string[];
  /** About how many stored points a period has. */
  sourcePerPeriod: number;
}

/** The days of a period, both inclusive. */
interface Period {
  start: string;
  end: string;
}

interface Window {
  from: string;
  to: string;
}

/** The points of one combination in one period, in stream order. */
interface Group {
  lineNo: number;
  dates: string[];
  values: string[];
  publishedOn: string;
  /** The dates of the combination's points just before and just after in the stream; null if there were none. */
  before: string | null;
  after: string | null;
}

/** The period that contains the date. Weeks are those of ISO 8601, from Monday to Sunday. */
export function periodWith(
  date: string,
  { target, fiscalYearEnd }: Pick<Aggregation, 'target' | 'fiscalYearEnd'>,
): Period {
  if (target === 'weekly') {
    const day = dayNumber(date);
    const monday = day - ((((day + 3) % 7) + 7) % 7); // day 0 was a Thursday
    return { start: withinCalendar(fromDayNumber(monday)), end: withinCalendar(fromDayNumber(monday + 6)) };
  }
  const endOf = (day: string): string => periodEnd(day, target, fiscalYearEnd ?? undefined);
  const before = endOf(addMonths(date, -(monthsPerPeriod[target] ?? 1)));
  return { start: addDays(before, 1), end: withinCalendar(endOf(date)) };
}

/** The maximum number of days between neighbouring points of a complete period; null if its points are counted instead. */
function gapMax({ source, target }: Aggregation): number | null {
  if (source === 'daily') return target === 'weekly' ? 10 : 31;
  return source === 'weekly' ? 10 : null;
}

/**
 * The days of the stored points that the periods of a window need: those of each period that ends in the window, and as many on either side
 * as decide whether it is complete. Null if no period ends in the window.
 */
export function sourceWindow(aggregation: Aggregation, { from, to }: Window): Window | null {
  const first = periodWith(from, aggregation);
  const last = periodWith(to, aggregation);
  const end = last.end === to ? to : withinCalendar(addDays(last.start, -1));
  if (end < first.start) return null;
  const beyond = gapMax(aggregation) ?? 0;
  return {
    from: withinCalendar(addDays(first.start, -beyond)),
    to: withinCalendar(addDays(end, beyond)),
  };
}

/** Aggregates points that are added in the order of the window. Each call returns the periods that no later point changes. */
export function createAggregator(
  aggregation: Aggregation,
  window: Window & { order: 'asc' | 'desc'; wanted: 'values' | 'all' | 'not_zero' },
) {
  const open = new Map<string, { period: Period; groups: Map<number, Group> }>();
  const newest = new Map<number, Group>();
  const beyond = gapMax(aggregation) ?? 0;
  let period: Period = { start: '', end: '' };

  function groupOf(date: string, lineNo: number): Group {
    if (date < period.start || date > period.end) period = periodWith(date, aggregation);
    let at = open.get(period.end);
    if (at === undefined) open.set(period.end, (at = { period, groups: new Map() }));
    let group = at.groups.get(lineNo);
    if (group === undefined) {
      const previous = newest.get(lineNo);
      group = {
        lineNo,
        dates: [],
        values: [],
        publishedOn: '',
        before: previous?.dates.at(-1) ?? null,
        after: null,
      };
      if (previous !== undefined) previous.after = date;
      at.groups.set(lineNo, group);
      newest.set(lineNo, group);
    }
    return group;
  }

  function closed(isClosed: (period: Period) => boolean): Points {
    const points = noPoints();
    for (const [end, { period: own, groups }] of open) {
      if (!isClosed(own)) break;
      open.delete(end);
      if (end >= window.from && end <= window.to)
        appendPoints(points, periodPoints(aggregation, own, groups, window));
    }
    return points;
  }

  return {
    add({ dates, values, lineNos, publishedOn }: Points): Points {
      for (let i = 0; i < dates.length; i += 1) {
        const date = entryAt(dates, i);
        const group = groupOf(date, entryAt(lineNos, i));
        group.dates.push(date);
        group.values.push(entryAt(values, i));
        const day = entryAt(publishedOn, i);
        if (day > group.publishedOn) group.publishedOn = day;
      }
      const last = dates.at(-1);
      if (last === undefined) return noPoints();
      const at = dayNumber(last);
      return closed(({ start, end }) =>
        window.order === 'asc' ? dayNumber(end) + beyond < at : dayNumber(start) - beyond > at,
      );
    },
    end: (): Points => closed(() => true),
  };
}

/** The points of one period, one of each combination. */
function periodPoints(
  aggregation: Aggregation,
  period: Period,
  groups: ReadonlyMap<number, Group>,
  { order, wanted }: { order: 'asc' | 'desc'; wanted: 'values' | 'all' | 'not_zero' },
): Points {
  const ahead = order === 'asc' ? 1 : -1;
  const points = noPoints();
  for (const group of [...groups.values()].sort((a, b) => (a.lineNo - b.lineNo) * ahead)) {
    const value = periodValue(aggregation, period, order === 'asc' ? group : reversed(group));
    if ((wanted !== 'all' && value === '') || (wanted === 'not_zero' && Number(value) === 0)) continue;
    points.dates.push(period.end);
    points.values.push(value);
    points.lineNos.push(group.lineNo);
    points.publishedOn.push(group.publishedOn);
    points.statuses.push(null);
  }
  return points;
}

function reversed(group: Group): Group {
  return {
    ...group,
    dates: group.dates.toReversed(),
    values: group.values.toReversed(),
    before: group.after,
    after: group.before,
  };
}

/** The value of a period; '' if it has none. @param group by date ascending. */
function periodValue(aggregation: Aggregation, period: Period, group: Group): string {
  const texts = group.values.filter((value) => value !== '');
  const [first = ''] = group.dates;
  // The value is dated to the end of the period, and has to be in the unit of that day.
  if (texts.length === 0 || aggregation.breaks.some((date) => date > first && date <= period.end)) return '';
  if (!aggregation.incomplete && !isComplete(aggregation, period, group, texts.length)) return '';
  return aggregateOf(aggregation, texts);
}

function aggregateOf({ aggregate, meanDecimals }: Aggregation, texts: readonly string[]): string {
  if (aggregate === 'first') return entryAt(texts, 0);
  if (aggregate === 'last') return entryAt(texts, texts.length - 1);
  const values = texts.map(decimal);
  if (aggregate === 'avg') return mean(values, meanDecimals);
  if (aggregate === 'sum') return sum(values);
  const sign = aggregate === 'max' ? 1 : -1;
  let [best, at]: [Decimal, number] = [entryAt(values, 0), 0];
  for (const [i, value] of values.entries()) {
    if (compareDecimals(value, best) * sign > 0) [best, at] = [value, i];
  }
  return entryAt(texts, at);
}

/** Whether a period has all its points, by the calendar. @param count of its values. */
function isComplete(aggregation: Aggregation, period: Period, group: Group, count: number): boolean {
  const { source, target } = aggregation;
  const gap = gapMax(aggregation);
  if (gap === null) {
    const [months, own] = [monthsPerPeriod[target], monthsPerPeriod[source]];
    return months !== undefined && own !== undefined && count >= months / own;
  }
  const { dates, before, after } = group;
  const [first, last] = [entryAt(dates, 0), entryAt(dates, dates.length - 1)];
  const begins = first <= latestFirst(source, target, period.start) || isNear(before, first, gap);
  const ends = last >= earliestLast(source, dates, period.end) || isNear(last, after, gap);
  return begins && ends && dates.every((date, i) => i === 0 || isNear(entryAt(dates, i - 1), date, gap));
}

function isNear(earlier: string | null, later: string | null, days: number): boolean {
  return earlier !== null && later !== null && dayNumber(later) - dayNumber(earlier) <= days;
}

/** The latest day on which the data may begin for the first period to be complete. */
function latestFirst(source: Frequency, target: TargetFrequency, start: string): string {
  return addDays(start, source === 'daily' && target === 'weekly' ? 1 : 6);
}

/** The earliest day on which the data may end for the last period to be complete: its last working day, or its last week. */
function earliestLast(source: Frequency, dates: readonly string[], end: string): string {
  if (source === 'weekly') return addDays(end, -6);
  if (!isWeekend(end) || dates.some(isWeekend)) return end;
  const saturdayBefore = isWeekend(addDays(end, -1)) ? addDays(end, -1) : end;
  return addDays(saturdayBefore, -1);
}
