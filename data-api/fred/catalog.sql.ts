// The statement that lists series for FRED's clients, a page by offset. Uses the catalogue's columns.
import { multiplierNames } from '../../domain/chart/captions.ts';
import type { Queryable } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { catalogList } from '../discovery/discovery.sql.ts';
import type { Conditions, List } from '../list.sql.ts';
import type { SeriesFacts } from './fred-series.ts';

/** The day of the newest points, as in the catalogue: no other change affects the answer of a list. */
const changedAt = `(last_updated::timestamp at time zone 'UTC')`;

/** FRED's name of an order → its SQL expression. The orders by real-time period and by popularity are those by id. */
export const seriesOrders = {
  series_id: 'series_id',
  title: 'name',
  units: 'unit',
  frequency: 'frequency',
  seasonal_adjustment: 'seasonal_adjustment',
  realtime_start: 'series_id',
  realtime_end: 'series_id',
  last_updated: changedAt,
  observation_start: 'first_date',
  observation_end: 'last_date',
  popularity: 'series_id',
  group_popularity: 'series_id',
} as const;

const sizes = Object.entries(multiplierNames).map(([power, name]) => `when ${power} then '${name}'`);
/** The units in the answers, such as `USD, millions`. */
export const shownUnits = `concat_ws(', ', unit,
  case unit_multiplier when 0 then null ${sizes.join(' ')} else '10^' || unit_multiplier end)`;

interface Page {
  /** In SQL. */
  order: string;
  direction: 'asc' | 'desc';
  offset: number;
  limit: number;
}

/**
 * A page of the matching series, and their number, in one statement: a load may commit between two. Equal ones are by id; those without a
 * value come last. @param list the catalogue, in some order.
 */
export async function findSeriesPage(
  database: Queryable,
  list: List,
  where: Conditions,
  { order, direction, offset, limit }: Page,
): Promise<{ count: number; rows: SeriesFacts[] }> {
  const ranked = where.copy();
  const ctes = list.ranking === undefined ? '' : `with ${list.ranking.ctes(ranked)}`;
  const matching = where.sql.length === 0 ? '' : `where ${where.sql.join(' and ')}`;
  const inOrder = `order by ${order} ${direction} nulls last, series_id`;
  const rows = await database.query<SeriesFacts & { count: number; place: number | null }>(
    `${ctes} select counted.count, page.* from (select count(*) from ${catalogList.from} ${matching}) counted left join (
       select series_id as id, name, unit, unit_multiplier as "unitMultiplier", frequency, fiscal_year_end as "fiscalYearEnd",
         seasonal_adjustment as "seasonalAdjustment", description, first_date as "firstDate", last_date as "lastDate",
         ${changedAt} as "changedAt", row_number() over (${inOrder}) as place
       from ${list.from} ${matching} ${inOrder} limit ${limit} offset ${offset}) page on true
     order by page.place`,
    ranked.values,
  );
  return { count: entryAt(rows, 0).count, rows: rows.filter(({ place }) => place !== null) };
}
