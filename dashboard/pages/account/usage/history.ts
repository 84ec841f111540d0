// The usage of an account by day: the range and grouping in the URL, and the API's rows as bars. Pure functions.
import { dayMs, utcDay } from '../../../text/times.ts';

const ranges = ['7d', '30d', 'month', '12m'] as const;
const groupings = ['status', 'endpoint', 'key'] as const;
export type Range = (typeof ranges)[number];
export type Grouping = (typeof groupings)[number];

/** The selection in the URL; unknown values get the default. */
export interface UsageView {
  range: Range;
  by: Grouping;
  /** The only group shown; null: all groups. */
  only: string | null;
}

export function viewOf(query: URLSearchParams): UsageView {
  const [range, by] = [query.get('range'), query.get('by')];
  return {
    range: ranges.find((each) => each === range) ?? '30d',
    by: groupings.find((each) => each === by) ?? 'status',
    only: query.get('only'),
  };
}

/** The days of a range, inclusive, and the period of a bar. */
export function periodOf(range: Range, now: number): { from: string; to: string; interval: 'day' | 'month' } {
  const to = utcDay(now);
  if (range === 'month') return { from: `${to.slice(0, 7)}-01`, to, interval: 'day' };
  if (range === '12m') {
    const [year, month] = [Number(to.slice(0, 4)), Number(to.slice(5, 7))];
    const from = new Date(Date.UTC(year, month - 12, 1)).toISOString().slice(0, 10);
    return { from, to, interval: 'month' };
  }
  return { from: utcDay(now, range === '7d' ? -6 : -29), to, interval: 'day' };
}

/** The month that ends when the count is reset: its first instant and the next one's, in ms. */
export function monthOf(resetsAt: string): { from: number; to: number } {
  const to = Date.parse(resetsAt);
  const last = new Date(to - 1);
  return { from: Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), 1), to };
}

export interface HistoryRow {
  date: string;
  calls: number;
  billed: number;
  key_id?: string;
  endpoint?: string;
  status?: string;
}

export interface Bar {
  /** The day, or the first day of the month. */
  date: string;
  /** In the order of the groups. */
  calls: number[];
  total: number;
}

export interface History {
  /** The API's names of the groups, most calls first. */
  groups: { id: string; calls: number; billed: number }[];
  bars: Bar[];
  calls: number;
  billed: number;
}

/** All periods of the range, including those without calls, which the API omits. */
export function historyOf(rows: readonly HistoryRow[], view: UsageView, now: number): History {
  const period = periodOf(view.range, now);
  const nameOf = (row: HistoryRow) => (view.by === 'key' ? row.key_id : row[view.by]) ?? '';
  const sums = new Map<string, { calls: number; billed: number }>();
  for (const row of rows) {
    const { calls, billed } = sums.get(nameOf(row)) ?? { calls: 0, billed: 0 };
    sums.set(nameOf(row), { calls: calls + row.calls, billed: billed + row.billed });
  }
  const all = [...sums].map(([id, sum]) => ({ id, ...sum }));
  const groups = all.sort((a, b) => (view.by === 'status' ? a.id.localeCompare(b.id) : b.calls - a.calls));
  const shown = view.only === null ? groups : groups.filter(({ id }) => id === view.only);
  const bars = datesOf(period).map((date) => {
    const length = period.interval === 'day' ? 10 : 7;
    const own = rows.filter((row) => row.date.slice(0, length) === date.slice(0, length));
    const callsOf = (id: string) =>
      own.filter((row) => nameOf(row) === id).reduce((sum, { calls }) => sum + calls, 0);
    const calls = shown.map(({ id }) => callsOf(id));
    return { date, calls, total: calls.reduce((sum, each) => sum + each, 0) };
  });
  const sumOf = (of: 'calls' | 'billed') => shown.reduce((sum, group) => sum + group[of], 0);
  return { groups, bars, calls: sumOf('calls'), billed: sumOf('billed') };
}

function datesOf({ from, to, interval }: ReturnType<typeof periodOf>): string[] {
  const dates: string[] = [];
  let at = Date.parse(from);
  while (at <= Date.parse(to)) {
    dates.push(utcDay(at));
    const date = new Date(at);
    at = interval === 'day' ? at + dayMs : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
  }
  return dates;
}
