// Finds the earlier values (legs) with which a transform compares a value, in the stream of a series' points: by calendar period, or by
// calendar date within a tolerance, never by row count.
import { addMonths, dayNumber } from '../../../kernel/dates.ts';
import { entryAt } from '../../../kernel/entries.ts';
import { monthsPerPeriod, type Frequency } from '../../../domain/periods.ts';

/** The earlier values that a value is compared with: that of a year or a month before, of the previous period, or of the previous two. */
export type Comparison = 'year' | 'month' | 'previous' | 'previous_two';

/** Points as columns of equal length; a missing value is ''. */
export interface Columns {
  dates: readonly string[];
  values: readonly string[];
  lineNos: readonly number[];
}

/** The points streamed so far, and the legs of a point among them. */
export interface Legs {
  /** Adds points that are not older than those added before, by date ascending. */
  add(points: Columns): void;
  /** The values on the earlier dates that the point needs, newest first; null if one is missing. The point itself was added. */
  of(lineNo: number, date: string): readonly string[] | null;
}

/** How much older than the requested date a leg by date may be, because of weekends and holidays. */
export const slackDays = 7;
/** How old the previous observation may be to count as that of the previous period. */
export const previousWithinDays: Partial<Record<Frequency, number>> = {
  daily: 7,
  weekly: 10,
  irregular: Infinity,
};

/** For points of one frequency. */
export function createLegs(comparison: Comparison, frequency: Frequency): Legs {
  const months = monthsPerPeriod[frequency];
  if (months !== undefined) return legsByPeriod(comparison, months);
  if (comparison === 'year') return legsByDate(-12);
  if (comparison === 'month') return legsByDate(-1);
  const count = comparison === 'previous_two' ? 2 : 1;
  return previousLegs(count, previousWithinDays[frequency] ?? Infinity);
}

const periodsMax = 12 * 10_000;

/** Monthly to annual: the preceding periods, counted by calendar. */
function legsByPeriod(comparison: Comparison, months: number): Legs {
  const periodOf = (date: string): number =>
    Math.floor((Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1) / months);
  const periodsBack = comparison === 'previous_two' ? [1, 2] : comparison === 'year' ? [12 / months] : [1];
  const values = new Map<number, string>(); // by combination and period
  return {
    add({ dates, values: texts, lineNos }) {
      for (let i = 0; i < dates.length; i += 1) {
        const text = entryAt(texts, i);
        if (text !== '') values.set(entryAt(lineNos, i) * periodsMax + periodOf(entryAt(dates, i)), text);
      }
    },
    of(lineNo, date) {
      const period = lineNo * periodsMax + periodOf(date);
      const legs: string[] = [];
      for (const back of periodsBack) {
        const leg = values.get(period - back);
        if (leg === undefined) return null;
        legs.push(leg);
      }
      return legs;
    },
  };
}

/** The values of one combination, by day. */
interface Column {
  days: number[];
  values: string[];
}

/** Daily, weekly, irregular: the columns of the points streamed so far. */
function createColumns() {
  const columns = new Map<number, Column>();
  return {
    add({ dates, values, lineNos }: Columns): void {
      let [date, day] = ['', 0];
      for (let i = 0; i < dates.length; i += 1) {
        const text = entryAt(values, i);
        if (text === '') continue;
        if (entryAt(dates, i) !== date) day = dayNumber((date = entryAt(dates, i)));
        const lineNo = entryAt(lineNos, i);
        let column = columns.get(lineNo);
        if (column === undefined) columns.set(lineNo, (column = { days: [], values: [] }));
        column.days.push(day);
        column.values.push(text);
      }
    },
    of: (lineNo: number) => columns.get(lineNo),
  };
}

/** The last value on or before the date so many months away, at most the slack older. */
function legsByDate(months: number): Legs {
  const columns = createColumns();
  let [lastDate, target] = ['', 0]; // the points of one date follow each other
  return {
    add: columns.add,
    of(lineNo, date) {
      const column = columns.of(lineNo);
      if (column === undefined) return null;
      if (date !== lastDate) target = dayNumber(addMonths((lastDate = date), months));
      const { days, values } = column;
      const at = firstWhere(days, (each) => each > target) - 1;
      const day = days[at];
      return day === undefined || day < target - slackDays ? null : [entryAt(values, at)];
    },
  };
}

/** The preceding `count` values, each within `withinDays` of the next. */
function previousLegs(count: number, withinDays: number): Legs {
  const columns = createColumns();
  return {
    add: columns.add,
    of(lineNo, date) {
      const column = columns.of(lineNo);
      if (column === undefined) return null;
      const { days, values } = column;
      const own = dayNumber(date);
      let at = firstWhere(days, (each) => each >= own);
      const legs: string[] = [];
      while (legs.length < count) {
        const newer = entryAt(days, at);
        const older = days[(at -= 1)];
        if (older === undefined || newer - older > withinDays) return null;
        legs.push(entryAt(values, at));
      }
      return legs;
    },
  };
}

/** The first position whose day passes the test, as do all after it; the length if none does. */
function firstWhere(days: readonly number[], passes: (day: number) => boolean): number {
  let [low, high] = [0, days.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(entryAt(days, middle))) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The number of a combination between two breaks. Transforms treat each stretch between breaks as a combination of its own, so that no
 * value has a leg beyond a break. @param breaks the dates, ascending.
 */
export function segmentNo(breaks: readonly string[], lineNo: number, date: string): number {
  if (breaks.length === 0) return lineNo;
  let segment = 0;
  while (segment < breaks.length && (breaks[segment] ?? '') <= date) segment += 1;
  return lineNo * (breaks.length + 1) + segment;
}
