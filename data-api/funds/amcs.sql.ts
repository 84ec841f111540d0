// The statements for asset management companies: the list, and the funds that each manages. The totals of the list are precomputed: each
// load sums the newest figures of the funds, per currency.
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import type { Row } from '../../kernel/http/list.ts';
import { date, filled, json, number, sorted, text } from '../list-fields.ts';
import type { List } from '../list.sql.ts';
import { shownStatus } from './funds.sql.ts';

/** `a` is a company, `m` its figures, without a sum if its funds have several currencies; `u` the last change of its funds. */
export const amcsList: List = {
  name: 'amcs',
  datasets: ['amcs', 'funds', 'nav', 'payouts', 'expenses'],
  from: `data.amcs a left join data.amc_figures m using (amc_id) left join (
    select f.amc_id, max(greatest(f.updated_on, g.updated_on)) as updated_on
    from data.funds f left join data.fund_figures g using (fund_no) group by f.amc_id) u using (amc_id)`,
  fields: {
    id: sorted(filled(text('a.amc_id'))),
    name: sorted(filled(text('a.name'))),
    short_name: text('a.short_name'),
    licence_no: text('a.licence_no'),
    rating: json(
      `case when a.rating is not null then
         json_build_object('grade', a.rating, 'agency', a.rating_agency, 'date', a.rating_date) end`,
      z.object({ grade: z.string(), agency: z.string().nullable(), date: z.iso.date().nullable() }),
    ),
    website: text('a.website'),
    established: sorted(date('a.established')),
    funds_count: sorted(filled(number('coalesce(m.funds_count, 0)'))),
    aum_total: sorted(number('m.aum_total')),
    aum_date: date('m.aum_date'),
    currency: text('m.currency'),
    market_share_pct: sorted(number('m.market_share_pct')),
    as_of: date('m.aum_date'),
    source: filled(text('a.source')),
    last_updated: filled(date('greatest(a.updated_on, u.updated_on)')),
  },
  key: ['id'],
  sort: 'id',
};

/** Whether a company with the id exists. */
export async function amcExists(database: Queryable, amcId: string): Promise<boolean> {
  return (await database.query('select from data.amcs where amc_id = $1', [amcId], 'amc_exists')).length > 0;
}

export async function listAmcIds(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'select amc_id as id from data.amcs order by amc_id limit 1000',
  );
  return rows.map(({ id }) => id);
}

/** A row of a company's holdings under management; its other members are those of the schema in amcs.ts. */
interface ManagedRow extends Row {
  /** Published digits, in the row's currency; null if unknown. */
  aum: string | null;
}

/** The assets under a company's management, by category and currency; funds whose assets are more than a quarter old are excluded. */
export async function readCategories(database: Queryable, amcId: string): Promise<ManagedRow[]> {
  return database.query(
    `select f.category, count(*) as funds_count, sum(g.aum) filter (where g.aum_date >= m.aum_date - 92) as aum, f.currency
     from data.funds f left join data.fund_figures g using (fund_no) left join data.amc_figures m using (amc_id)
     where f.amc_id = $1 and (f.status is null or f.status in ('active', 'suspended'))
     group by f.category, f.currency order by f.category, f.currency`,
    [amcId],
  );
}

/** The funds of a company, including past ones, ordered by id. */
export async function readManagedFunds(
  database: Queryable,
  amcId: string,
): Promise<(ManagedRow & { nav: string | null })[]> {
  return database.query(
    `select f.fund_id as id, f.name, f.category, ${shownStatus} as status, f.currency, g.nav, g.as_of as nav_date, g.aum, g.aum_date,
       g.return_1y_pct
     from data.funds f left join data.fund_figures g using (fund_no) where f.amc_id = $1 order by f.fund_id`,
    [amcId],
  );
}

/**
 * A company's assets at the end of each of the last 120 months, oldest first: the sum of each fund's last assets within
 * the month, including past funds.
 */
export async function readAssetsHistory(database: Queryable, amcId: string): Promise<ManagedRow[]> {
  return database.query(
    `with managed as materialized (select fund_no, currency from data.funds where amc_id = $1),
     newest as (select max(n.date) as date from managed m, lateral (
       select date from data.navs n where n.fund_no = m.fund_no and n.aum is not null order by date desc limit 1) n)
     select (month + interval '1 month' - interval '1 day')::date as date, sum(n.aum) as aum, m.currency,
       count(*) as funds_count
     from newest, generate_series(date_trunc('month', newest.date) - interval '119 months',
       date_trunc('month', newest.date), interval '1 month') month, managed m, lateral (
       select aum from data.navs n
       where n.fund_no = m.fund_no and n.aum is not null and n.date >= month::date
         and n.date < (month + interval '1 month')::date
       order by n.date desc limit 1) n
     group by month, m.currency order by month, m.currency`,
    [amcId],
  );
}
