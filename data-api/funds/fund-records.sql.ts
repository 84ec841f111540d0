// The statements for the dated records of funds: NAVs, payouts, expenses, and the histories that returns are computed from. A history is
// read from the primary key's index alone, as one text.
import { expensePeriods, payoutTypes } from '../../domain/funds/enums.ts';
import type { NavPoint, Payout } from '../../domain/funds/adjusted-nav.ts';
import type { Queryable } from '../../kernel/database.ts';
import { entryAt, memberOf } from '../../kernel/entries.ts';
import { date, filled, number, sorted, text, word } from '../list-fields.ts';
import { Conditions, type List, type Window } from '../list.sql.ts';
import { presentId } from '../series/stored/series.sql.ts';

/** `n` is a NAV, `f` its fund. A price with a load has four decimals, or as many as the NAV if that is more. */
export const navList: List = {
  name: 'nav',
  datasets: ['nav', 'payouts', 'funds'],
  from: 'data.navs n join data.funds f using (fund_no)',
  fields: {
    fund_id: filled(text('f.fund_id')),
    date: sorted(filled(date('n.date'))),
    nav: number('n.nav'),
    offer_price: number(
      'coalesce(n.offer_price, round(n.nav * (1 + f.front_end_load_pct / 100), greatest(scale(n.nav), 4)))',
    ),
    repurchase_price: number(
      'coalesce(n.repurchase_price, round(n.nav * (1 - f.back_end_load_pct / 100), greatest(scale(n.nav), 4)))',
    ),
    nav_adjusted: number('null::numeric'),
    aum: number('n.aum'),
    units_outstanding: number('n.units_outstanding'),
    validity_date: date('n.validity_date'),
    as_of: filled(date('n.date')),
    source: filled(text('f.source')),
    last_updated: filled(date('n.updated_on')),
  },
  key: ['date'],
  sort: 'date',
};

export const navFrequencies = ['daily', 'weekly', 'monthly', 'quarterly', 'annual'] as const;

/** frequency → its period for date_trunc, and as an interval. */
const periods = {
  weekly: ['week', '1 week'],
  monthly: ['month', '1 month'],
  quarterly: ['quarter', '3 months'],
  annual: ['year', '1 year'],
} as const;

/** The rows of a fund in a window; every list in this file is sorted by date. */
export function recordsWhere({ fields, sort }: List, fundNo: number, window: Window): Conditions {
  return new Conditions().and(fundNo, (p) => `fund_no = ${p}`).during(window, memberOf(fields, sort).sql);
}

/** Keeps the days that have a NAV or assets, or the last day with a NAV in each period. */
export function keepLastNavs(where: Conditions, frequency: (typeof navFrequencies)[number]): void {
  if (frequency === 'daily') where.sql.push('(n.nav is not null or n.aum is not null)');
  else {
    const [unit, interval] = periods[frequency];
    where.sql.push(
      `n.nav is not null and not exists (select from data.navs later where later.fund_no = n.fund_no
         and later.date > n.date and later.date < date_trunc('${unit}', n.date) + interval '${interval}'
         and later.nav is not null)`,
    );
  }
}

const sourceOf = (alias: string) => text(`coalesce(${alias}.source, f.source)`);

/** `p` is a payout, `f` its fund. */
export const payoutsList: List = {
  name: 'payouts',
  datasets: ['payouts', 'funds'],
  from: 'data.payouts p join data.funds f using (fund_no)',
  fields: {
    fund_id: filled(text('f.fund_id')),
    announcement_date: date('p.announcement_date'),
    ex_date: sorted(filled(date('p.ex_date'))),
    record_date: date('p.record_date'),
    payment_date: date('p.payment_date'),
    financial_year: text('p.financial_year'),
    payout_per_unit: number('p.payout_per_unit'),
    payout_pct_of_par: number('p.payout_pct_of_par'),
    currency: filled(text('f.currency')),
    type: sorted(filled(word('p.type', payoutTypes))),
    kind: sorted(filled(text('p.kind'))),
    split_ratio: number('p.split_ratio'),
    ex_nav: number('p.ex_nav'),
    cum_nav: number('p.cum_nav'),
    as_of: filled(date('p.ex_date')),
    source: sourceOf('p'),
    last_updated: filled(date('p.updated_on')),
  },
  key: ['ex_date', 'type', 'kind'],
  sort: 'ex_date',
};

/** `e` is a row of expenses, `f` its fund. */
export const expensesList: List = {
  name: 'expenses',
  datasets: ['expenses', 'funds'],
  from: 'data.expenses e join data.funds f using (fund_no)',
  fields: {
    fund_id: filled(text('f.fund_id')),
    period_end: sorted(filled(date('e.period_end'))),
    period_type: sorted(filled(word('e.period_type', expensePeriods))),
    ter_pct: number('e.ter_pct'),
    ter_excl_levies_pct: number('e.ter_excl_levies_pct'),
    government_levies_pct: number('e.government_levies_pct'),
    management_fee_pct: number('e.management_fee_pct'),
    selling_marketing_pct: number('e.selling_marketing_pct'),
    accounting_pct: number('e.accounting_pct'),
    trustee_fee_pct: number('e.trustee_fee_pct'),
    secp_fee_pct: number('e.secp_fee_pct'),
    limit_pct: number('e.limit_pct'),
    as_of: filled(date('e.period_end')),
    source: sourceOf('e'),
    last_updated: filled(date('e.updated_on')),
  },
  key: ['period_end', 'period_type'],
  sort: 'period_end',
};

/** The whole NAV history of a fund up to a day. */
export async function readNavHistory(database: Queryable, fundNo: number, to: string): Promise<NavPoint[]> {
  const rows = await database.query<{ navs: string | null }>(
    `select string_agg(date || ' ' || nav, ',') as navs from data.navs
     where fund_no = $1 and date <= $2 and nav is not null`,
    [fundNo, to],
    'read_nav_history',
  );
  return pointsOf(entryAt(rows, 0).navs).map(({ date: day, value }) => ({ date: day, nav: value }));
}

/** The NAVs on which every adjusted NAV depends: the first, and the first on or after each payout. */
export async function readAdjustingNavs(database: Queryable, fundNo: number): Promise<NavPoint[]> {
  return database.query<NavPoint>(
    `(select date, nav from data.navs where fund_no = $1 and nav is not null order by date limit 1)
     union
     select bought.* from data.payouts p, lateral (
       select date, nav from data.navs n where n.fund_no = $1 and n.date >= p.ex_date and nav is not null
       order by date limit 1) bought
     where p.fund_no = $1`,
    [fundNo],
  );
}

export async function readPayouts(database: Queryable, fundNo: number): Promise<Payout[]> {
  return database.query<Payout>(
    'select ex_date, payout_per_unit, ex_nav, split_ratio from data.payouts where fund_no = $1',
    [fundNo],
  );
}

export interface SeriesLevels {
  seriesId: string;
  points: { date: string; value: string }[];
}

/**
 * The current values of a series (of its first combination of dimension values): a benchmark or a rate. Only those in the unit of a day:
 * between the breaks before and after it. Undefined if the series does not exist.
 */
export async function readLevels(
  database: Queryable,
  seriesId: string,
  day: string,
): Promise<SeriesLevels | undefined> {
  const [row] = await database.query<{ levels: string | null }>(
    `select (select string_agg(date || ' ' || value, ',') from data.observations o
       where o.line_no = (select min(line_no) from data.series_dims d where d.series_no = s.series_no)
         and o.superseded_on = 'infinity' and o.value is not null
         and o.date >= coalesce((select max(b.date) from data.series_breaks b where b.series_no = s.series_no and b.date <= $2), '-infinity')
         and o.date < coalesce((select min(b.date) from data.series_breaks b where b.series_no = s.series_no and b.date > $2), 'infinity')
       ) as levels
     from data.series s where s.series_id = ${presentId('$1')} and s.deleted_on is null`,
    [seriesId, day],
    'read_levels',
  );
  return row === undefined ? undefined : { seriesId, points: pointsOf(row.levels) };
}

function pointsOf(list: string | null): { date: string; value: string }[] {
  return (list?.split(',') ?? []).map((entry) => {
    const cells = entry.split(' ');
    return { date: entryAt(cells, 0), value: entryAt(cells, 1) };
  });
}
