// Returns of a fund over the usual periods, and of regular instalments into it. Payouts are reinvested, loads are ignored.
import { addDays, addMonths, dayNumber, isDate } from '../../kernel/dates.ts';
import { percent } from '../percent.ts';
import { inceptionNav, navOnOrAfter, navOnOrBefore, type AdjustedNav } from './adjusted-nav.ts';
import { xirrPct } from './xirr.ts';

export const returnPeriods = [
  '1d',
  '7d',
  '15d',
  '1m',
  '3m',
  '6m',
  '1y',
  '2y',
  '3y',
  '5y',
  '10y',
  'mtd',
  'ytd',
  'fytd',
  'since_inception',
] as const;
export type ReturnPeriod = (typeof returnPeriods)[number];

export const returnBases = ['absolute', 'annualized_simple', 'annualized_compound'] as const;
export type ReturnBasis = (typeof returnBases)[number];

/** How returns are stated: all on one basis, or absolute below one year and annualised (compound) from one year on. */
export const statedBases = ['by_length', ...returnBases] as const;
export type StatedBasis = (typeof statedBases)[number];

/** The first month of the fiscal year of funds that state none. */
export const usualFirstMonth = 7;

export interface ReturnOptions {
  /** Returns end at the last NAV on or before this day, at most `navSlackDays` before it. */
  asOf: string;
  /** `auto`: as `by_length`, but on `shortBasis` below one year. */
  basis: StatedBasis | 'auto';
  /** The meaning of `auto` below one year, see `shortBasisOf`. */
  shortBasis?: 'absolute' | 'annualized_simple';
  /** `MM-DD`, the first day of the fiscal year of `fytd`. Default: of `usualFirstMonth`. */
  fiscalYearStart?: string;
  /** The inception date; if null (unknown), that of the first NAV is used. */
  inception: string | null;
}

export interface PeriodReturn {
  period: ReturnPeriod;
  /** The dates of the two NAVs, null if there is none. */
  from: string | null;
  to: string | null;
  /** The NAVs as published, not adjusted. */
  nav_from: string | null;
  nav_to: string | null;
  days: number | null;
  /** In percent, from the adjusted NAV. Null if a NAV is missing. */
  value_pct: number | null;
  basis: ReturnBasis;
}

interface SipReturn {
  /** The dates of the first purchase and of the final value. */
  from: string | null;
  to: string | null;
  instalments: number;
  final_value: number | null;
  /** In percent per year. */
  value_pct: number | null;
  basis: 'xirr';
}

/** How an asset class quotes returns below one year: money-market and income funds annualised, all others absolute. */
export function shortBasisOf(assetClass: string | null): 'absolute' | 'annualized_simple' {
  return assetClass === 'money_market' || assetClass === 'income' ? 'annualized_simple' : 'absolute';
}

/**
 * One record for each of `returnPeriods`, in that order. A period is counted back from the date of the final NAV, and
 * starts from the last NAV on or before its target day, at most `navSlackDays` before it; without one the value is
 * null.
 * @param navs from `adjustNavs`.
 * @throws RangeError if `fiscalYearStart` is not a day of every year.
 */
export function periodReturns(navs: readonly AdjustedNav[], options: ReturnOptions): PeriodReturn[] {
  const fiscalYearStart = options.fiscalYearStart ?? firstDayOf(usualFirstMonth);
  if (!isDate(`2001-${fiscalYearStart}`)) throw new RangeError(`no day of every year: ${fiscalYearStart}`);
  const end = navOnOrBefore(navs, options.asOf);
  return returnPeriods.map((period) => {
    if (period === 'since_inception') {
      const start = end === null ? null : inceptionNav(navs, options.inception);
      return record(period, start, end, start?.date ?? options.inception ?? options.asOf, options);
    }
    const target = targetDay(period, end?.date ?? options.asOf, fiscalYearStart);
    return record(period, end === null ? null : navOnOrBefore(navs, target), end, target, options);
  });
}

/** The growth of an investment as a return; null if it spans no day, or is beyond the range of numbers. */
export function returnPct(growth: number, days: number, basis: ReturnBasis): number | null {
  return days > 0 ? percent(returnOf(growth, days, basis) * 100) : null;
}

/**
 * The same as an unrounded fraction, R = growth − 1:
 * absolute R; annualised simple R · 365 / days; annualised compound (1 + R)^(365 / days) − 1.
 */
export function returnOf(growth: number, days: number, basis: ReturnBasis): number {
  return {
    absolute: growth - 1,
    annualized_simple: ((growth - 1) * 365) / days,
    annualized_compound: growth ** (365 / days) - 1,
  }[basis];
}

/**
 * The return of regular instalments: each buys units at the first NAV on or after its day (at most `navSlackDays`
 * later), payouts buy more, and all is valued at the last NAV on or before `asOf`. The value is the XIRR of the
 * purchases and the final value. Null if an instalment finds no NAV by then, or if no single rate solves it.
 * @param instalment the amount of each, in any currency; it does not affect the rate.
 */
export function sipReturn(
  navs: readonly AdjustedNav[],
  {
    instalmentDates,
    instalment,
    asOf,
  }: { instalmentDates: readonly string[]; instalment: number; asOf: string },
): SipReturn {
  const end = navOnOrBefore(navs, asOf);
  const bought = instalmentDates.toSorted().flatMap((date) => {
    const nav = navOnOrAfter(navs, date);
    return nav === null || end === null || nav.date > end.date ? [] : [nav];
  });
  const complete = end !== null && bought.length > 0 && bought.length === instalmentDates.length;
  const finalValue = complete
    ? bought.reduce((sum, nav) => sum + instalment * (end.adjusted / nav.adjusted), 0)
    : NaN;
  const flows = bought.map(({ date }) => ({ date, amount: -instalment }));
  return {
    from: bought[0]?.date ?? null,
    to: end?.date ?? null,
    instalments: instalmentDates.length,
    final_value: Number.isFinite(finalValue) ? finalValue : null,
    value_pct: complete ? xirrPct([...flows, { date: end.date, amount: finalValue }]) : null,
    basis: 'xirr',
  };
}

/** `MM-DD`: the first day of a fiscal year that begins with the month. @param month from 1 to 12. */
export function firstDayOf(month: number): string {
  return `${String(month).padStart(2, '0')}-01`;
}

/** The first day of the fiscal year that the day is in. @param start its `MM-DD`. */
export function fiscalYearOf(day: string, start: string): string {
  const first = `${day.slice(0, 4)}-${start}`;
  return first <= day ? first : addMonths(first, -12);
}

function record(
  period: ReturnPeriod,
  start: AdjustedNav | null,
  end: AdjustedNav | null,
  target: string,
  options: ReturnOptions,
): PeriodReturn {
  const days = start === null || end === null ? null : dayNumber(end.date) - dayNumber(start.date);
  const basis = basisOf(target, end?.date ?? options.asOf, options);
  return {
    period,
    from: start?.date ?? null,
    to: end?.date ?? null,
    nav_from: start?.nav ?? null,
    nav_to: end?.nav ?? null,
    days,
    value_pct:
      start === null || end === null || days === null
        ? null
        : returnPct(end.adjusted / start.adjusted, days, basis),
    basis,
  };
}

/** Based on the target day, not the NAV's, so that a holiday does not change the basis of a period. */
function basisOf(target: string, to: string, { basis, shortBasis = 'absolute' }: ReturnOptions): ReturnBasis {
  if (basis !== 'auto' && basis !== 'by_length') return basis;
  if (target <= addMonths(to, -12)) return 'annualized_compound';
  return basis === 'auto' ? shortBasis : 'absolute';
}

/** The day from which the period starts: the return of its first day is measured against this day's closing NAV. */
function targetDay(
  period: Exclude<ReturnPeriod, 'since_inception'>,
  to: string,
  fiscalYearStart: string,
): string {
  const year = to.slice(0, 4);
  switch (period) {
    case 'mtd':
      return addDays(`${to.slice(0, 7)}-01`, -1);
    case 'ytd':
      return addDays(`${year}-01-01`, -1);
    case 'fytd':
      return addDays(fiscalYearOf(to, fiscalYearStart), -1);
    default: {
      const count = Number(period.slice(0, -1));
      if (period.endsWith('d')) return addDays(to, -count);
      return addMonths(to, period.endsWith('m') ? -count : -12 * count);
    }
  }
}
