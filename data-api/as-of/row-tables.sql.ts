// The tables of which loads keep the replaced rows, as of a day, and what is computed from them.
import type { AsOfTable } from './tables.sql.ts';
import { isOfThen, keptRows } from './kept-rows.sql.ts';

const trade = keptRows({
  name: 'trade',
  dataset: 'trade',
  columns: {
    trade_no: 'bigint',
    reporter: 'text',
    flow: 'text',
    period: 'text',
    partner_code: 'text',
    partner_name: 'text',
    classification: 'text',
    classification_version: 'text',
    commodity_code: 'text',
    commodity_name: 'text',
    basis: 'text',
    currency: 'text',
    valuation: 'text',
    value: 'numeric',
    cif_value: 'numeric',
    fob_value: 'numeric',
    quantity: 'numeric',
    quantity_unit: 'text',
    quantity_estimated: 'boolean',
    net_weight_kg: 'numeric',
    status: 'text',
    is_aggregate: 'boolean',
    source: 'text',
    level: 'smallint',
    frequency: 'text',
    date: 'date',
  },
});

const tradeNames = keptRows({
  name: 'trade_commodities',
  dataset: 'trade-commodities',
  columns: { classification: 'text', commodity_code: 'text', name: 'text', source: 'text' },
});

const tradeGroup = ['reporter', 'flow', 'classification', 'basis', 'currency', 'period'];
const groupOf = (row: string) => tradeGroup.map((column) => `${row}.${column}`).join(', ');

/** A total that no later load changed is as it was; the others are computed as in migrations/000004_trade.sql. */
const tradeTotals: AsOfTable = {
  needs: ['trade'],
  sql: `
    select ${groupOf('x')}, x.value from data.trade_totals x where ${isOfThen('x', 'trade')}
    union all
    select ${groupOf('g')}, total.value from (
      select ${groupOf('x')} from data.trade_totals x where (${isOfThen('x', 'trade')}) is not true
      union
      select ${groupOf('f')} from as_of_former_trade f) g, lateral (
      select sum(t.value) as value from as_of_trade t
      where (${groupOf('t')}) = (${groupOf('g')})
        and t.date = (make_date(left(g.period, 4)::integer, case length(g.period) when 4 then 12 else right(g.period, 2)::integer end, 1)
          + interval '1 month' - interval '1 day')::date
      group by t.partner_code = 'WLD', t.commodity_code = 'TOTAL', t.level
      order by case when t.partner_code = 'WLD' and t.commodity_code = 'TOTAL' then 1 when t.commodity_code = 'TOTAL' then 2
        when t.partner_code = 'WLD' then 3 else 4 end, t.level desc nulls last
      limit 1) total`,
};

export const rowTables: Readonly<Record<string, AsOfTable>> = {
  ...trade,
  ...tradeNames,
  trade_totals: tradeTotals,
};
