// The lists of external trade: rows as published, and their sums over partners, commodities and periods. Decides which rows may be added: a
// table has totals as well as their parts, codes of several lengths, months and years.
import { addMonths, withinCalendar } from '../../kernel/dates.ts';
import { tradeBases, tradeClassifications, tradeFlows } from '../../domain/markets.ts';
import { boolean, date, filled, number, sorted, text, word } from '../list-fields.ts';
import { Conditions, escapeLike, type List, type Window } from '../list.sql.ts';

/** The total of a flow in the period of a row `t`; null if there is none. */
const total = `(select x.value from data.trade_totals x
  where (x.reporter, x.flow, x.classification, x.basis, x.currency, x.period)
    = (t.reporter, t.flow, t.classification, t.basis, t.currency, t.period))`;

/** The same month, or the year, some years later. */
const periodMoved = (period: string, years: number) =>
  `lpad((left(${period}, 4)::integer + ${years})::text, 4, '0') || substr(${period}, 5)`;

/** The last day of a period. */
const lastDay = (period: string) =>
  `(make_date(left(${period}, 4)::integer, case length(${period}) when 4 then 12 else right(${period}, 2)::integer end, 1)
    + interval '1 month' - interval '1 day')::date`;

/** The value of the same row one year earlier. */
const yearBefore = `(select y.value from data.trade y
  where (y.reporter, y.flow, y.classification, y.commodity_code, y.partner_code, y.basis, y.currency)
    = (t.reporter, t.flow, t.classification, t.commodity_code, t.partner_code, t.basis, t.currency)
    and y.period = ${periodMoved('t.period', -1)})`;

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
    periods: filled(number('1')),
    periods_published: filled(number('1')),
    as_of: filled(date('t.date')),
    source: filled(text('t.source')),
    last_updated: filled(date('t.updated_on')),
    id: sorted(filled(number('t.trade_no'))),
  },
  key: ['id'],
  sort: '-date',
};

/** The window is of the last days of periods. */
export interface TradeFilter extends Window {
  flow?: readonly string[] | undefined;
  frequency?: readonly string[] | undefined;
  reporter?: readonly string[] | undefined;
  partner?: readonly string[] | undefined;
  commodity?: readonly string[] | undefined;
  /** Whether a commodity code is a prefix. */
  commodityIsPrefix: boolean;
  classification?: readonly string[] | undefined;
  level?: readonly number[] | undefined;
  basis?: readonly string[] | undefined;
  currency?: readonly string[] | undefined;
}

export function tradeWhere(filter: TradeFilter): Conditions {
  const { commodity, commodityIsPrefix } = filter;
  const prefixPatterns = commodityIsPrefix ? commodity?.map((code) => `${escapeLike(code)}%`) : undefined;
  return new Conditions()
    .isOneOf(filter.flow, 't.flow')
    .during(filter, 't.date')
    .isOneOf(filter.frequency, 't.frequency')
    .equals('reporter', filter.reporter, 't.reporter')
    .equals('partner', filter.partner, 't.partner_code')
    .isOneOf(commodityIsPrefix ? undefined : commodity, 't.commodity_code')
    .any(prefixPatterns, (p) => `t.commodity_code like ${p}`)
    .isOneOf(filter.classification, 't.classification')
    .isOneOf(filter.level, 't.level')
    .isOneOf(filter.basis, 't.basis')
    .equals('currency', filter.currency, 't.currency');
}

/** How periods are added up; `whole` is the whole requested window. */
export type PeriodGroup = 'period' | 'quarter' | 'year' | 'fiscal_year' | 'whole';

/** The groups of a sum. */
interface SumsAsked {
  filter: TradeFilter & { from: string };
  groupsByPartner: boolean;
  groupsByCommodity: boolean;
  /** Groups commodities by this many digits of their codes. */
  level: number | undefined;
  periods: PeriodGroup;
  /** The last month of a fiscal year, 1 to 12. */
  fiscalYearEnd: number;
  /** Exports minus imports. */
  isBalance: boolean;
}

/**
 * Sums of a flow, or the balance of two. For each flow and period only rows of one kind are summed, those nearest to the
 * request: a published total in preference to the sum of its parts, and of the parts those with one length of code. Months are
 * added to months and years to years.
 */
export function tradeSums(asked: SumsAsked): { list: List; where: Conditions } {
  const { filter, isBalance } = asked;
  const selected = tradeWhere({
    ...filter,
    // WLD is all partners; its published total is preferred, see `nearness`.
    partner: filter.partner?.[0] === 'WLD' ? undefined : filter.partner,
    level: undefined,
    from: undefined,
    to: undefined,
  });
  if (isBalance) selected.sql.push(`t.flow in ('export', 'import')`);
  const list: List = {
    ...tradeList,
    from: `(${sumsStatement(asked, selected)}) t`,
    fields: {
      ...tradeList.fields,
      commodity_name: text(`coalesce(${listedName}, (select n.commodity_name from data.trade n
        where (n.commodity_code, n.classification) = (t.commodity_code, t.classification)
          and n.commodity_name is not null limit 1))`),
      share_pct: number(`data.percent_of(t.value, t.total)`),
      yoy_pct: number(percentChange('t.value', 't.value_before')),
      periods: filled(number('t.periods')),
      periods_published: filled(number('t.periods_published')),
      as_of: filled(date('t.as_of')),
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
      'frequency',
    ],
  };
  const where = new Conditions();
  where.values.push(...selected.values);
  return { list, where };
}

/** How partners and commodities are grouped, in SQL. */
function codesOf(
  { filter, ...asked }: SumsAsked,
  parameter: (value: unknown, type: string) => string,
): { partner: string; commodity: string } {
  const whole = `replace(t.commodity_code, '.', '')`;
  return {
    partner: asked.groupsByPartner ? 't.partner_code' : parameter(filter.partner?.[0] ?? 'WLD', 'text'),
    commodity: !asked.groupsByCommodity
      ? parameter(filter.commodity?.[0] ?? 'TOTAL', 'text')
      : asked.level === undefined
        ? 't.commodity_code'
        : `left(${whole}, ${asked.level})`,
  };
}

/** The preference among rows that overlap because some are totals of others. */
function nearness({ groupsByPartner, groupsByCommodity, level }: SumsAsked): string {
  if (groupsByPartner && groupsByCommodity && level === undefined) return '1'; // every row stays separate
  const partners = groupsByPartner ? `t.partner_code = 'WLD'` : `t.partner_code <> 'WLD'`;
  if (!groupsByCommodity) return `${partners}, t.commodity_code <> 'TOTAL', t.level desc nulls last`;
  const levels =
    level === undefined
      ? 't.level desc nulls last'
      : `case when t.level >= ${level} then t.level end nulls last`;
  return groupsByPartner ? `${partners}, ${levels}` : `${levels}, ${partners}`;
}

/** The label of the group of a period, in SQL. @param date any day of the same month. */
function groupName({ periods, fiscalYearEnd }: SumsAsked, period: string, date: string): string {
  const digits = (sql: string) => `lpad((${sql})::text, 4, '0')`;
  const fiscalYear = fiscalYearOf(fiscalYearEnd, period, date);
  const names: Record<PeriodGroup, string> = {
    whole: `'whole'`,
    period,
    quarter: `left(${period}, 4) || to_char(${date}, '"-Q"Q')`,
    year: `left(${period}, 4)`,
    fiscal_year: `${digits(`${fiscalYear} - 1`)} || '/' || right(${digits(fiscalYear)}, 2)`,
  };
  return names[periods];
}

const fiscalYearOf = (endMonth: number, period: string, date: string) =>
  `(left(${period}, 4)::integer + case when extract(month from ${date}) > ${endMonth} then 1 else 0 end)`;

/** The last day of the group of a published period `p`, in SQL. */
function groupEnd({ periods, fiscalYearEnd }: SumsAsked): string {
  const lastOf = (year: string, month: number) =>
    `(make_date(${year}, ${month}, 1) + interval '1 month' - interval '1 day')::date`;
  const ends: Record<PeriodGroup, string> = {
    whole: 'max(p.date) over g',
    period: 'p.date',
    quarter: `(date_trunc('quarter', p.date) + interval '3 months' - interval '1 day')::date`,
    year: lastOf('left(p.period, 4)::integer', 12),
    fiscal_year: lastOf(fiscalYearOf(fiscalYearEnd, 'p.period', 'p.date'), fiscalYearEnd),
  };
  return ends[periods];
}

/** A year is part of no quarter, and of no fiscal year that is not the calendar year. */
const hasMonthsOnly = ({ periods }: SumsAsked) => periods === 'quarter' || periods === 'fiscal_year';

/** The columns that identify a flow of a reporter in one kind of periods, besides the period. */
const flowColumns = ['reporter', 'flow', 'classification', 'basis', 'currency', 'frequency'] as const;

/**
 * The groups of the periods of the window that have been published: `span` is the label of one, `ends` its last day. A balance has only the
 * periods that have both flows: otherwise it would equal the other flow.
 */
function publishedPeriods(asked: SumsAsked, from: string, to: string | undefined): string {
  const { isBalance, periods } = asked;
  const name = groupName(asked, 'p.period', 'p.date');
  const columns = (of: string) => flowColumns.map((column) => `${of}.${column}`).join(', ');
  const ofMonths = hasMonthsOnly(asked) ? `and p.frequency = 'M'` : '';
  return `
    totals as (
      select x.reporter, ${isBalance ? `'balance'` : 'x.flow'} as flow, x.classification, x.basis, x.currency, x.period,
        case length(x.period) when 4 then 'A' else 'M' end as frequency,
        ${lastDay('x.period')} as date,
        ${isBalance ? 'null::numeric' : 'x.value'} as value
      from data.trade_totals x
      ${isBalance ? `where x.flow in ('export', 'import') group by 1, 2, 3, 4, 5, 6 having count(*) = 2` : ''}
    ), published as (
      select distinct ${columns('p')}, ${name} as name,
        ${periods !== 'whole' ? name : `case when min(p.period) over g = max(p.period) over g then p.period else min(p.period) over g || '..' || max(p.period) over g end`} as span,
        ${groupEnd(asked)} as ends,
        max(p.date) over g as as_of, count(*) over g as periods_published,
        case when count(p.value) over g = count(*) over g then sum(p.value) over g end as total,
        bool_and(b.period is not null) over g as has_year_before
      from totals p left join totals b
        on (${columns('b')}, b.period) = (${columns('p')}, ${periodMoved('p.period', -1)})
      where (p.date >= ${from}) is true ${to === undefined ? '' : `and (p.date <= ${to}) is true`} ${ofMonths}
      window g as (partition by ${columns('p')}, ${name})
    )`;
}

function sumsStatement(asked: SumsAsked, selected: Conditions): string {
  const { filter, isBalance, level, groupsByCommodity } = asked;
  const parameter = (value: unknown, type: string): string => `$${selected.values.push(value)}::${type}`;
  const codes = codesOf(asked, parameter);
  const from = parameter(filter.from, 'date');
  const to = filter.to === undefined ? undefined : parameter(filter.to, 'date');
  // A month may have one day more a year earlier; the join leaves only the periods that are meant.
  const earliest = parameter(withinCalendar(addMonths(filter.from, -12)), 'date');
  const latest =
    filter.to === undefined ? undefined : parameter(withinCalendar(addMonths(filter.to, -11)), 'date');
  const rowsIn = (first: string, last: string | undefined) => `
      select t.*, dense_rank() over (partition by t.reporter, t.flow, t.period, t.classification, t.basis, t.currency
        order by ${nearness(asked)}) as nearness
      from data.trade t where ${[...selected.sql, `t.date >= ${first}`, ...(last === undefined ? [] : [`t.date <= ${last}`])].join(' and ')}`;
  const flow = isBalance ? `'balance'` : 't.flow';
  const counted = [
    't.nearness = 1',
    ...(groupsByCommodity && level !== undefined ? [`t.level >= ${level}`] : []),
    ...(hasMonthsOnly(asked) ? [`t.frequency = 'M'`] : []),
  ].join(' and ');
  // As a subquery in a case expression: a join of millions of rows with a few periods is planned as a loop over these.
  const isPublished = (ofFlow: string, period: string) => `case when exists (select from data.trade_totals x
        where (x.reporter, x.flow, x.classification, x.basis, x.currency, x.period)
          = (t.reporter, ${ofFlow}, t.classification, t.basis, t.currency, ${period})) then true end`;
  const flows = isBalance ? [`'export'`, `'import'`] : ['t.flow'];
  const published = (period: string) => flows.map((each) => `and ${isPublished(each, period)}`).join(' ');
  const value = isBalance ? `case t.flow when 'export' then t.value else -t.value end` : 't.value';
  const key = [...flowColumns, 'name', 'partner_code', 'commodity_code'];
  const groups = (
    period: string,
  ) => `t.reporter, ${flow} as flow, t.classification, t.basis, t.currency, t.frequency,
        ${groupName(asked, period, 't.date')} as name, ${codes.partner} as partner_code, ${codes.commodity} as commodity_code`;
  const same = (a: string, b: string, columns: readonly string[]) =>
    `(${columns.map((column) => `${a}.${column}`).join(', ')}) = (${columns.map((column) => `${b}.${column}`).join(', ')})`;
  const grouped = `group by ${key.map((_, i) => i + 1).join(', ')}`;
  const later = periodMoved('t.period', 1);
  // Full joins, which are never planned as loops: PostgreSQL estimates few sums, and there may be hundreds of thousands.
  return `
    with ${publishedPeriods(asked, from, to)}, sums as (
      select ${groups('t.period')}, ${addedUp(asked)}, sum(${value}) as value
      from (${rowsIn(from, to)}) t where ${counted} ${isBalance ? published('t.period') : ''} ${grouped}
    ), before as (
      select ${groups(later)}, sum(${value}) as value
      from (${rowsIn(earliest, latest)}) t where ${counted} and (${lastDay(later)} >= ${from}) is true
        ${to === undefined ? '' : `and (${lastDay(later)} <= ${to}) is true`} ${published(later)} ${grouped}
    )
    select s.*, p.span as period, p.ends as date, p.as_of, p.periods_published, p.total, null::bigint as trade_no,
      true as is_aggregate, case when s.commodity_code = 'TOTAL' then 0 else s.deepest end as level,
      case when p.has_year_before then b.value end as value_before
    from sums s full join published p on ${same('p', 's', [...flowColumns, 'name'])}
      full join before b on ${same('b', 's', key)}
    where (s.name is null) is not true and (p.name is null) is not true`;
}

/** The columns of a sum from its rows `t`, besides its value. */
function addedUp({ isBalance, groupsByPartner, level }: SumsAsked): string {
  const same = (column: string) =>
    `case when count(distinct t.${column}) = 1 and count(t.${column}) = count(*)`;
  const whole = (column: string) => `case when count(t.${column}) = count(*) then sum(t.${column}) end`;
  // A balance has neither quantity nor valuation, as its two legs differ in them.
  const unlessBalance = (sql: string) => (isBalance ? 'null' : sql);
  return `${groupsByPartner ? 'max(t.partner_name)' : 'null'} as partner_name,
        ${same('classification_version')} then max(t.classification_version) end as classification_version,
        ${unlessBalance(`${same('valuation')} then max(t.valuation) end`)} as valuation,
        ${unlessBalance(whole('cif_value'))}::numeric as cif_value,
        ${unlessBalance(whole('fob_value'))}::numeric as fob_value,
        ${unlessBalance(`${same('quantity_unit')} then ${whole('quantity')} end`)}::numeric as quantity,
        ${unlessBalance(`${same('quantity_unit')} and count(t.quantity) = count(*) then max(t.quantity_unit) end`)} as quantity_unit,
        ${unlessBalance('bool_or(t.quantity_estimated)')}::boolean as quantity_estimated,
        ${unlessBalance(whole('net_weight_kg'))}::numeric as net_weight_kg,
        case when bool_or(t.status = 'provisional') then 'provisional' when bool_or(t.status = 'revised') then 'revised'
          when bool_and(coalesce(t.status = 'final', false)) then 'final' end as status,
        string_agg(distinct t.source, '; ') as source, max(t.updated_on) as updated_on,
        count(distinct t.period) as periods,
        ${level === undefined ? 'max(t.level)' : `${level}::smallint`} as deepest`;
}
