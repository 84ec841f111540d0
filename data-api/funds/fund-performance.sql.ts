// The statement that compares a fund with the others of its category. The loads precompute the returns of the others, each as of the fund's
// own last NAV.
import type { Queryable } from '../../kernel/database.ts';
import { returnPeriods, type ReturnPeriod } from '../../domain/funds/returns.ts';

interface CategoryPlace {
  period: ReturnPeriod;
  averagePct: number | null;
  /** 1 is the highest return; null if the fund has none. */
  rank: number | null;
  /** The number of funds that have a return. */
  rankOf: number;
}

/**
 * The rank of a fund, by period, among the funds of its category and currency whose last NAV is at most 7 days from its
 * own, by returns of one basis. Empty if it has no category or no NAV, or is stale.
 * @param includesStale whether stale funds have ranks and are counted, too.
 */
export async function readCategoryPlaces(
  database: Queryable,
  fundNo: number,
  includesStale: boolean,
): Promise<CategoryPlace[]> {
  const values = returnPeriods.map((period) => `('${period}', g.return_${period}_pct)`).join(', ');
  return database.query<CategoryPlace>(
    `with own as (
       select f.category, f.currency, g.* from data.funds f join data.fund_figures g using (fund_no)
       where f.fund_no = $1 and ($2 or not g.is_stale)
     ), peers as materialized (
       select g.* from own join data.funds f on f.category = own.category and f.currency = own.currency
       join data.fund_figures g on g.fund_no = f.fund_no and g.as_of between own.as_of - 7 and own.as_of + 7
         and ($2 or not g.is_stale)
     )
     select theirs.period, avg(theirs.value) as "averagePct", count(theirs.value) as "rankOf",
       case when mine.value is not null then 1 + count(*) filter (where theirs.value > mine.value) end as rank
     from (select v.* from peers g, lateral (values ${values}) v (period, value)) theirs
     join (select v.* from own g, lateral (values ${values}) v (period, value)) mine using (period)
     group by theirs.period, mine.value`,
    [fundNo, includesStale],
    'category_places',
  );
}
