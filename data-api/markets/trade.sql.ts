// The lists of external trade: rows as published, and their sums over partners or commodities.
// Hides which rows may be added up: a table holds totals as well as their parts, and codes of several lengths.
import { addMonths } from '../../kernel/dates.ts';
import { tradeBases, tradeClassifications, tradeFlows } from '../../domain/markets.ts';
import { boolean, date, filled, number, sorted, text, word } from '../list-fields.ts';
import { Conditions, escapeLike, type List } from '../list.sql.ts';

/** The total of a flow in the period of a row `t`; null if there is none. */
const total = `(select x.value from data.trade_totals x
  where (x.reporter, x.flow, x.classification, x.basis, x.currency, x.period)
    = (t.reporter, t.flow, t.classification, t.basis, t.currency, t.period))`;

/** The value of the same row one year earlier. */
const yearBefore = `(select y.value from data.trade y
  where (y.reporter, y.flow, y.classification, y.commodity_code, y.partner_code, y.basis, y.currency)
    = (t.reporter, t.flow, t.classification, t.commodity_code, t.partner_code, t.basis, t.currency)
    and y.period = (left(t.period, 4)::integer - 1)::text || substr(t.period, 5))`;

const listedName = `(select n.name from data.trade_commodities n
  where (n.classification, n.commodity_code) = (t.classification, t.commodity_code))`;

const percentChange = (now: string, before: string) => `data.percent_of(${now} - ${before}, ${before})`;

/** The rows as published, ordered by date, then id. */
export const tradeList: List = {
  name: 'trade',
  datasets: ['trade', 'trade-commodities'],
  from: 'data.trade t',
  fields: {
    period: filled(text('t.period')),
    date: sorted(filled(date('t.date'))),
    frequency: filled(word('t.frequency', ['M', 'A'])),
    flow: filled(word('t.flow', [...tradeFlows, 'balance'])),
    reporter: filled(text('t.reporter')),
    partner_code: filled(text('t.partner_code')),
    partner_name: text('t.partner_name'),
    commodity_code: filled(text('t.commodity_code')),
    commodity_name: text(`coalesce(t.commodity_name, ${listedName})`),
    level: number('t.level'),
    classification: filled(word('t.classification', tradeClassifications)),
    classification_version: text('t.classification_version'),
    basis: filled(word('t.basis', tradeBases)),
    value: sorted(number('t.value')),
    currency: filled(text('t.currency')),
    valuation: text('t.valuation'),
    cif_value: number(`coalesce(t.cif_value, case when t.valuation = 'cif' then t.value end)`),
    fob_value: number(`coalesce(t.fob_value, case when t.valuation = 'fob' then t.value end)`),
    quantity: number('t.quantity'),
    quantity_unit: text('t.quantity_unit'),
    quantity_estimated: boolean('t.quantity_estimated'),
    net_weight_kg: number('t.net_weight_kg'),
    unit_value: number('trim_scale(round(t.value / nullif(t.quantity, 0), 6))'),
    share_pct: number(`data.percent_of(t.value, ${total})`),
    yoy_pct: number(percentChange('t.value', yearBefore)),
    status: text('t.status'),
    is_aggregate: filled(boolean('t.is_aggregate')),
    as_of: filled(date('t.date')),
    source: filled(text('t.source')),
    last_updated: filled(date('t.updated_on')),
    id: sorted(filled(number('t.trade_no'))),
  },
  key: ['id'],
  sort: '-date',
};

export interface TradeFilter {
  flow: string | undefined;
  /** Last days of periods, both inclusive. */
  from: string | undefined;
  to: string | undefined;
  frequency: string | undefined;
  reporter: string | undefined;
  partner: string | undefined;
  commodity: string | undefined;
  /** Whether a commodity code is a prefix. */
  commodityIsBeginning: boolean;
  classification: string | undefined;
  level: number | undefined;
  basis: string | undefined;
  currency: string | undefined;
}

export function tradeWhere(filter: TradeFilter): Conditions {
  const { commodity } = filter;
  const beginning = filter.commodityIsBeginning ? commodity : undefined;
  return new Conditions()
    .and(filter.flow, (p) => `t.flow = ${p}`)
    .and(filter.from, (p) => `t.date >= ${p}`)
    .and(filter.to, (p) => `t.date <= ${p}`)
    .and(filter.frequency, (p) => `t.frequency = ${p}`)
    .and(filter.reporter, (p) => `t.reporter = ${p}`)
    .and(filter.partner, (p) => `t.partner_code = ${p}`)
    .and(beginning === undefined ? commodity : undefined, (p) => `t.commodity_code = ${p}`)
    .and(
      beginning === undefined ? undefined : `${escapeLike(beginning)}%`,
      (p) => `t.commodity_code like ${p}`,
    )
    .and(filter.classification, (p) => `t.classification = ${p}`)
    .and(filter.level, (p) => `t.level = ${p}`)
    .and(filter.basis, (p) => `t.basis = ${p}`)
    .and(filter.currency, (p) => `t.currency = ${p}`);
}

/** What is summed, and what is kept separate. */
interface SumsAsked {
  filter: TradeFilter;
  keepsPartners: boolean;
  keepsCommodities: boolean;
  /** Groups commodities by this many digits of their codes. */
  level: number | undefined;
  /** Exports minus imports. */
  isBalance: boolean;
}

/**
 * Sums of a flow, or the balance of two. For each flow and period only rows of one kind are summed, those nearest to the
 * request: a published total in preference to the sum of its parts, and of the parts those with one length of code.
 */
export function tradeSums(asked: SumsAsked): { list: List; where: Conditions } {
  const { filter, isBalance } = asked;
  const selected = tradeWhere({
    ...filter,
    // WLD is all partners; its published total is preferred, see `nearness`.
    partner: filter.partner === 'WLD' ? undefined : filter.partner,
    level: undefined,
    // One more year, for the year-on-year changes.
    from: filter.from === undefined ? undefined : addMonths(filter.from, -12),
  });
  if (isBalance) selected.sql.push(`t.flow in ('export', 'import')`);
  const codes = codesOf(asked, selected);
  const list: List = {
    ...tradeList,
    from: `(${sumsStatement(asked, selected, codes)}) t`,
    fields: {
      ...tradeList.fields,
      commodity_name: text(`coalesce(${listedName}, (select n.commodity_name from data.trade n
        where (n.commodity_code, n.classification) = (t.commodity_code, t.classification)
          and n.commodity_name is not null limit 1))`),
      yoy_pct: number(percentChange('t.value', 't.value_before')),
      id: number('t.trade_no'),
    },
    key: [
      'date',
      'reporter',
      'flow',
      'partner_code',
      'commodity_code',
      'classification',
      'basis',
      'currency',
      'period',
    ],
  };
  const where = new Conditions();
  where.values.push(...selected.values);
  return { list, where: where.and(filter.from, (p) => `t.date >= ${p}`) };
}

/** How partners and commodities are grouped, in SQL; adds the values it needs to the conditions. */
function codesOf(
  { filter, ...asked }: SumsAsked,
  { values }: Conditions,
): { partner: string; commodity: string } {
  const parameter = (value: unknown): string => `$${values.push(value)}::text`;
  const whole = `replace(t.commodity_code, '.', '')`;
  return {
    partner: asked.keepsPartners ? 't.partner_code' : parameter(filter.partner ?? 'WLD'),
    commodity: !asked.keepsCommodities
      ? parameter(filter.commodity ?? 'TOTAL')
      : asked.level === undefined
        ? 't.commodity_code'
        : `left(${whole}, ${asked.level})`,
  };
}

/** The preference among rows that overlap because some are totals of others. */
function nearness({ keepsPartners, keepsCommodities, level }: SumsAsked): string {
  if (keepsPartners && keepsCommodities && level === undefined) return '1'; // every row stays separate
  const partners = keepsPartners ? `t.partner_code = 'WLD'` : `t.partner_code <> 'WLD'`;
  if (!keepsCommodities) return `${partners}, t.commodity_code <> 'TOTAL', t.level desc nulls last`;
  const levels =
    level === undefined
      ? 't.level desc nulls last'
      : `case when t.level >= ${level} then t.level end nulls last`;
  return keepsPartners ? `${partners}, ${levels}` : `${levels}, ${partners}`;
}

function sumsStatement(
  asked: SumsAsked,
  selected: Conditions,
  codes: { partner: string; commodity: string },
): string {
  const { isBalance, level } = asked;
  const same = (column: string) =>
    `case when count(distinct t.${column}) = 1 and count(t.${column}) = count(*)`;
  const whole = (column: string) => `case when count(t.${column}) = count(*) then sum(t.${column}) end`;
  // A balance has neither quantity nor valuation, as its two legs differ in them.
  const unlessBalance = (sql: string) => (isBalance ? 'null' : sql);
  const value = isBalance ? `case t.flow when 'export' then t.value else -t.value end` : 't.value';
  return `
    with selected as (
      select t.*, dense_rank() over (partition by t.reporter, t.flow, t.period, t.classification, t.basis, t.currency
        order by ${nearness(asked)}) as nearness
      from data.trade t where ${selected.sql.join(' and ')}
    ), sums as (
      select null::bigint as trade_no, t.period, t.date, t.frequency, ${isBalance ? `'balance'` : 't.flow'} as flow,
        t.reporter, ${codes.partner} as partner_code,
        ${asked.keepsPartners ? 'max(t.partner_name)' : 'null'} as partner_name,
        ${codes.commodity} as commodity_code, t.classification,
        ${same('classification_version')} then max(t.classification_version) end as classification_version,
        t.basis, t.currency, sum(${value}) as value,
        ${unlessBalance(`${same('valuation')} then max(t.valuation) end`)} as valuation,
        ${unlessBalance(whole('cif_value'))}::numeric as cif_value,
        ${unlessBalance(whole('fob_value'))}::numeric as fob_value,
        ${unlessBalance(`${same('quantity_unit')} then ${whole('quantity')} end`)}::numeric as quantity,
        ${unlessBalance(`${same('quantity_unit')} and count(t.quantity) = count(*) then max(t.quantity_unit) end`)} as quantity_unit,
        ${unlessBalance('bool_or(t.quantity_estimated)')}::boolean as quantity_estimated,
        ${unlessBalance(whole('net_weight_kg'))}::numeric as net_weight_kg,
        case when bool_or(t.status = 'provisional') then 'provisional' when bool_or(t.status = 'revised') then 'revised'
          when bool_and(coalesce(t.status = 'final', false)) then 'final' end as status,
        true as is_aggregate, string_agg(distinct t.source, '; ') as source, max(t.updated_on) as updated_on,
        ${level === undefined ? 'max(t.level)' : `${level}::smallint`} as deepest
      from selected t where nearness = 1 ${asked.keepsCommodities && level !== undefined ? `and t.level >= ${level}` : ''}
      group by 2, 3, 4, 5, 6, 7, 9, t.classification, t.basis, t.currency
    )
    select s.*, case when s.commodity_code = 'TOTAL' then 0 else s.deepest end as level, b.value as value_before
    from sums s left join sums b
      on (b.reporter, b.flow, b.partner_code, b.commodity_code, b.classification, b.basis, b.currency)
        = (s.reporter, s.flow, s.partner_code, s.commodity_code, s.classification, s.basis, s.currency)
        and b.period = (left(s.period, 4)::integer - 1)::text || substr(s.period, 5)
    ${isBalance ? `where ${hasBothFlows}` : ''}`;
}

/** Without one of its legs, the balance would equal the other leg. */
const hasBothFlows = `(select count(*) from data.trade_totals x
  where (x.reporter, x.classification, x.basis, x.currency, x.period)
    = (s.reporter, s.classification, s.basis, s.currency, s.period) and x.flow in ('export', 'import')) = 2`;
