// The adjusted NAV of a fund: the value of a unit bought at the first NAV if every payout is reinvested in units. Handles payouts on days
// without a NAV.
import { addDays } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';

/** A published NAV. Null, zero or anything else that is not a positive number means no NAV on that day. */
export interface NavPoint {
  date: string;
  nav: string | null;
}

/** Money paid per unit held before the ex-date, or a split of it. An amount that is not a positive number is ignored. */
export interface Payout {
  ex_date: string;
  payout_per_unit: string | null;
  /** The NAV after the payout; if missing, the first NAV on or after the ex-date is used. */
  ex_nav?: string | null;
  /** For a split: the number of new units per old unit. */
  split_ratio?: string | null;
}

export interface AdjustedNav {
  date: string;
  /** The NAV with its published digits. */
  nav: string;
  /** NAV × units held per unit of the first day. Infinite only if the input is beyond any real fund. */
  adjusted: number;
}

/** How far a NAV may be from the requested day. */
export const navSlackDays = 7;

/**
 * The total-return index of a fund, ascending by date, one entry per NAV. At each ex-date after the first NAV the
 * units grow by 1 + payout / ex-NAV; payouts of one ex-date are added up, as all are paid on the units held
 * before. For a split, its ratio replaces the 1. Without payouts the adjusted NAV is the NAV. The order of points and payouts does not matter.
 * @throws RangeError if two NAVs have the same date.
 */
export function adjustNavs(points: readonly NavPoint[], payouts: readonly Payout[]): AdjustedNav[] {
  const published = points
    .flatMap(({ date, nav }) => {
      const value = positiveNumber(nav);
      return nav === null || value === null ? [] : [{ date, nav, value }];
    })
    .sort((a, b) => compare(a.date, b.date));
  const firstDate = published[0]?.date ?? '';
  const due = payouts.filter((payout) => payout.ex_date > firstDate).sort(byDateThenAmount);

  let units = 1;
  let nextDue = 0;
  return published.map(({ date, nav, value }, i) => {
    if (published[i - 1]?.date === date) throw new RangeError(`two NAVs on ${date}`);
    while (nextDue < due.length && entryAt(due, nextDue).ex_date <= date) {
      const exDate = entryAt(due, nextDue).ex_date;
      let unitsPerUnit = 1;
      let bought = 0;
      for (; due[nextDue]?.ex_date === exDate; nextDue += 1) {
        const payout = entryAt(due, nextDue);
        unitsPerUnit *= positiveNumber(payout.split_ratio) ?? 1;
        bought += (positiveNumber(payout.payout_per_unit) ?? 0) / (positiveNumber(payout.ex_nav) ?? value);
      }
      units *= unitsPerUnit + bought;
    }
    return { date, nav, adjusted: value * units };
  });
}

/** The last NAV on or before the date, at most `navSlackDays` before it; null if there is none. */
export function navOnOrBefore(navs: readonly AdjustedNav[], date: string): AdjustedNav | null {
  const found = navs[firstIndexAfter(navs, date) - 1];
  return found !== undefined && found.date >= addDays(date, -navSlackDays) ? found : null;
}

/** The first NAV on or after the date, at most `navSlackDays` after it; null if there is none. */
export function navOnOrAfter(navs: readonly AdjustedNav[], date: string): AdjustedNav | null {
  const after = firstIndexAfter(navs, date);
  const found = navs[after - 1]?.date === date ? navs[after - 1] : navs[after];
  return found !== undefined && found.date <= addDays(date, navSlackDays) ? found : null;
}

/** The NAVs from one date to another, both inclusive. */
export function navsBetween(navs: readonly AdjustedNav[], from: string, to: string): AdjustedNav[] {
  return navs.slice(0, firstIndexAfter(navs, to)).filter((nav) => nav.date >= from);
}

/**
 * The NAV from which a return since inception starts: the first one, if it is within `navSlackDays` of the
 * inception; otherwise the start of the history is unknown. Without an inception date the first NAV is the
 * inception.
 */
export function inceptionNav(navs: readonly AdjustedNav[], inception: string | null): AdjustedNav | null {
  const first = navs[0];
  if (first === undefined || inception === null) return first ?? null;
  const isNear =
    first.date >= addDays(inception, -navSlackDays) && first.date <= addDays(inception, navSlackDays);
  return isNear ? first : null;
}

function firstIndexAfter(navs: readonly AdjustedNav[], date: string): number {
  let low = 0;
  let high = navs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entryAt(navs, middle).date <= date) low = middle + 1;
    else high = middle;
  }
  return low;
}

function positiveNumber(text: string | null | undefined): number | null {
  const value = Number(text ?? '');
  return value > 0 && value < Infinity ? value : null;
}

function byDateThenAmount(a: Payout, b: Payout): number {
  return (
    compare(a.ex_date, b.ex_date) ||
    compare(a.payout_per_unit ?? '', b.payout_per_unit ?? '') ||
    compare(a.ex_nav ?? '', b.ex_nav ?? '')
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
