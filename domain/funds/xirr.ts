// The internal rate of return of dated payments. The root search is bracketed and cannot diverge.
import { dayNumber } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import { percent } from '../percent.ts';

/** A payment on a date: negative is paid in, positive is received (or vice versa: the rate is the same). */
export interface CashFlow {
  date: string;
  amount: number;
}

/**
 * The yearly rate r, in percent points, at which the present value of the flows is zero: Σ amount / (1 + r)^(days / 365) = 0,
 * days counted from the first flow (act/365, as the spreadsheet function XIRR). Null if no rate solves it (the
 * flows do not change sign), if several do (possible if they change sign more than once), or if the rate
 * is beyond the range of numbers.
 *
 * The unknown is x = ln(1 + r), so that every r above −100 % can be found. Flows that change sign once have
 * exactly one root, and bisection of the whole range finds it to the last bit. Otherwise a grid over x is searched
 * for changes of sign: steps of 0.025 from −5 to 5 (r from −99 % to 14,700 %), doubling beyond. Two roots within one
 * step are missed.
 */
export function xirrPct(flows: readonly CashFlow[]): number | null {
  const net = netFlows(flows);
  const [first, last] = [net[0], net.at(-1)];
  if (first === undefined || last === undefined) return null;
  // If both ends have the same sign, the number of roots is even: none, or an ambiguous pair.
  if (first.amount > 0 === last.amount > 0) return null;
  const bracket = signChanges(net) === 1 ? wholeRange : onlyBracket(net);
  if (bracket === null) return null;
  return percent(Math.expm1(bisect(net, bracket)) * 100);
}

interface TimedFlow {
  years: number;
  amount: number;
}

type Bracket = readonly [low: number, high: number];

// No pair of finite amounts a day apart has its root beyond this: 365 · ln(largest / smallest double) < 2^20.
const wholeRange: Bracket = [-(2 ** 20), 2 ** 20];

const grid = [
  ...Array.from({ length: 18 }, (_, i) => -5 * 2 ** (18 - i)),
  ...Array.from({ length: 401 }, (_, i) => (i - 200) / 40),
  ...Array.from({ length: 18 }, (_, i) => 5 * 2 ** (i + 1)),
];

/** One non-zero flow per day, ascending, scaled to at most 1; empty if an amount is not finite. */
function netFlows(flows: readonly CashFlow[]): TimedFlow[] {
  const largest = flows.reduce((max, { amount }) => Math.max(max, Math.abs(amount)), 0);
  if (!Number.isFinite(largest)) return [];
  const byDay = new Map<number, number>();
  for (const { date, amount } of flows.toSorted((a, b) => a.amount - b.amount)) {
    const day = dayNumber(date);
    byDay.set(day, (byDay.get(day) ?? 0) + amount / largest);
  }
  const days = [...byDay].filter(([, amount]) => amount !== 0).sort(([a], [b]) => a - b);
  const firstDay = days[0]?.[0] ?? 0;
  return days.map(([day, amount]) => ({ years: (day - firstDay) / 365, amount }));
}

function signChanges(net: readonly TimedFlow[]): number {
  return net.filter(({ amount }, i) => i > 0 && amount > 0 !== entryAt(net, i - 1).amount > 0).length;
}

/** The only step of the grid on which the value changes sign; null if there is not exactly one. */
function onlyBracket(net: readonly TimedFlow[]): Bracket | null {
  const brackets: Bracket[] = [];
  for (let i = 1; i < grid.length; i += 1) {
    const [low, high] = [entryAt(grid, i - 1), entryAt(grid, i)];
    if (presentValue(net, low) > 0 !== presentValue(net, high) > 0) brackets.push([low, high]);
  }
  return brackets.length === 1 ? entryAt(brackets, 0) : null;
}

function bisect(net: readonly TimedFlow[], [from, to]: Bracket): number {
  let [low, high] = [from, to];
  const startsPositive = presentValue(net, low) > 0;
  for (;;) {
    const middle = (low + high) / 2;
    // The width matters if the root is zero: halving would otherwise continue through a thousand ever smaller numbers.
    if (middle <= low || middle >= high || high - low < 1e-16) return middle;
    const value = presentValue(net, middle);
    if (value === 0) return middle;
    if (value > 0 === startsPositive) low = middle;
    else high = middle;
  }
}

/**
 * Present value at x = ln(1 + r), divided by its largest discount factor so that nothing overflows; the sign is kept.
 */
function presentValue(net: readonly TimedFlow[], x: number): number {
  const largest = Math.max(0, -x * (net.at(-1)?.years ?? 0));
  return net.reduce((sum, { years, amount }) => sum + amount * Math.exp(-x * years - largest), 0);
}
