// The constraints of schema data that funds and their managers have, as cases.
import { checksOf, currencies, isins, key, slugs, type TableCases } from './tables.ts';

const day = '2024-01-31';
const updatedToday = { updated_on: 'current_date' };
const urls = {
  accepted: ['http://a', 'https://a', `https://${'a'.repeat(1992)}`],
  refused: ['', 'ftp://a', 'javascript:a', ' https://a', `https://${'a'.repeat(1993)}`],
};
const amc = `insert into data.amcs (amc_id, name, source) values ('one', 'One', 'Tests')`;
const twoFunds = `insert into data.funds (fund_no, fund_id, name, currency, source) overriding system value
  values (1, 'one', 'One', 'PKR', 'Tests'), (2, 'two', 'Two', 'PKR', 'Tests')`;
const ofFund = (table: string) => ({
  constraint: `${table}_fund_no_fkey`,
  refused: { fund_no: '3' },
  deleteParent: 'delete from data.funds where fund_no = 1',
  outcome: 'the row goes too' as const,
});

function amcs(): TableCases[] {
  const is = checksOf('amcs');
  const row = { amc_id: 'one', name: 'One', source: 'Tests' };
  const figures = { amc_id: 'one', funds_count: '1' };
  return [
    {
      table: 'data.amcs',
      row,
      defaults: updatedToday,
      cases: [
        key('amcs_pkey', ['amc_id'], row, { amc_id: 'two' }),
        ...is.pattern('amc_id', slugs.accepted, slugs.refused),
        ...is.text(300, 'name'),
        ...is.check(
          'fiscal_year_first_month_check',
          ['0', '13', '-1'].map((month) => ({ fiscal_year_first_month: month })),
          ['1', '12'].map((month) => ({ fiscal_year_first_month: month })),
        ),
        ...is.text(100, 'short_name', 'licence_no', 'rating_agency'),
        ...is.text(20, 'rating'),
        ...is.pattern('website', urls.accepted, urls.refused),
        ...is.text(500, 'source'),
      ],
    },
    {
      table: 'data.amc_figures',
      before: [amc, `insert into data.amcs (amc_id, name, source) values ('two', 'Two', 'Tests')`],
      row: figures,
      cases: [key('amc_figures_pkey', ['amc_id'], figures, { amc_id: 'two' })],
      references: [
        {
          constraint: 'amc_figures_amc_id_fkey',
          refused: { amc_id: 'three' },
          deleteParent: `delete from data.amcs where amc_id = 'one'`,
          outcome: 'the row goes too',
        },
      ],
    },
  ];
}

function funds(): TableCases {
  const is = checksOf('funds');
  const row = { fund_id: 'three', name: 'Three', currency: 'PKR', source: 'Tests' };
  return {
    table: 'data.funds',
    before: [
      amc,
      `insert into data.funds (fund_id, name, currency, source) values ('one', 'One', 'PKR', 'Tests')`,
    ],
    row,
    defaults: { ...updatedToday, former_names: [], former_codes: [], fund_managers: [], dealing_days: [] },
    filled: ['fund_no'],
    cases: [
      key('funds_pkey', ['fund_no'], { fund_no: '1000' }, { fund_no: '1001', fund_id: 'four' }),
      key('funds_fund_id_key', ['fund_id'], row, { fund_id: 'four' }),
      ...is.pattern('fund_id', slugs.accepted, slugs.refused),
      ...is.text(300, 'name'),
      ...is.text(100, 'short_name', 'plan', 'option', 'listing', 'rating_agency'),
      ...is.text(40, 'symbol', 'risk_profile', 'rating_outlook'),
      ...is.check(
        'fiscal_year_first_month_check',
        ['0', '13', '-1'].map((month) => ({ fiscal_year_first_month: month })),
        ['1', '12'].map((month) => ({ fiscal_year_first_month: month })),
      ),
      ...is.pattern(['isin', 'isin_payout', 'isin_reinvestment'], isins.accepted, isins.refused),
      ...is.text(80, 'source_code'),
      ...is.text(200, 'category', 'trustee', 'registrar', 'auditor', 'leverage'),
      ...is
        .oneOf(
          'asset_class',
          ...['equity', 'income', 'money_market', 'balanced', 'asset_allocation', 'commodity', 'index'],
          ...['fund_of_funds', 'capital_protected', 'real_estate', 'other'].filter(
            (word) => word !== 'other',
          ),
        )
        .map((each) => ({
          ...each,
          refused: ['others', '', 'Equity'].map((word) => ({ asset_class: word })),
          accepted: [...each.accepted, { asset_class: 'other' }],
        })),
      ...is.oneOf('structure', 'open_end', 'closed_end', 'vps', 'etf', 'interval'),
      ...is.text(500, 'benchmark', 'source'),
      ...is.pattern('currency', currencies.accepted, currencies.refused),
      ...is.oneOf('status', 'active', 'suspended', 'matured', 'closed', 'merged'),
      ...is.text(5000, 'objective'),
      ...is.text(20, 'rating', 'amc_rating'),
      ...is.oneOf('pricing_mechanism', 'forward', 'backward'),
      ...is.notNegative('minimum_investment'),
      ...is.between(-100, 100, 'management_fee_pct'),
      ...is.between(0, 100, 'front_end_load_pct', 'back_end_load_pct', 'contingent_load_pct'),
      ...is.text(1000, 'dividend_policy'),
    ],
    references: [
      {
        constraint: 'funds_amc_id_fkey',
        refused: { amc_id: 'three' },
        accepted: { amc_id: 'one' },
        deleteParent: `delete from data.amcs where amc_id = 'one'`,
        outcome: 'it is refused',
      },
      {
        constraint: 'funds_merged_into_fkey',
        refused: { merged_into: 'nowhere' },
        accepted: { merged_into: 'one' },
        deleteParent: `delete from data.funds where fund_id = 'one'`,
        outcome: 'it is refused',
      },
    ],
  };
}

function records(): TableCases[] {
  const navs = checksOf('navs');
  const nav = { fund_no: '1', date: day };
  const payouts = checksOf('payouts');
  const payout = { fund_no: '1', ex_date: day, type: 'cash' };
  const expenses = checksOf('expenses');
  const expense = { fund_no: '1', period_end: day, period_type: 'mtd' };
  return [
    {
      table: 'data.navs',
      row: nav,
      defaults: updatedToday,
      cases: [
        key('navs_pkey', ['fund_no', 'date'], nav, { fund_no: '2', date: '2024-02-01' }),
        ...navs.positive('nav', 'offer_price', 'repurchase_price'),
        ...navs.notNegative('aum', 'units_outstanding'),
      ],
    },
    {
      table: 'data.payouts',
      row: payout,
      defaults: { ...updatedToday, kind: 'regular' },
      cases: [
        key(
          'payouts_pkey',
          ['fund_no', 'ex_date', 'type', 'kind'],
          { ...payout, kind: 'regular' },
          {
            ...{ fund_no: '2', ex_date: '2024-02-01', type: 'bonus', kind: 'special' },
          },
        ),
        ...payouts.oneOf('type', 'cash', 'bonus', 'reinvest'),
        ...payouts.pattern('kind', slugs.accepted, slugs.refused),
        {
          constraint: 'payouts_split_ratio_check',
          refused: ['0', '-0.000001', 'Infinity', 'NaN'].map((ratio) => ({
            type: 'split',
            split_ratio: ratio,
          })),
          accepted: ['0.000001', '1e30'].map((ratio) => ({ type: 'split', split_ratio: ratio })),
        },
        ...payouts.check(
          'split_check',
          [{ type: 'split' }, { split_ratio: '2' }],
          [{ type: 'split', split_ratio: '2' }, {}],
        ),
        ...payouts.text(20, 'financial_year'),
        ...payouts.notNegative('payout_per_unit', 'payout_pct_of_par'),
        ...payouts.positive('ex_nav', 'cum_nav'),
        ...payouts.text(500, 'source'),
      ],
    },
    {
      table: 'data.expenses',
      row: expense,
      defaults: updatedToday,
      cases: [
        key('expenses_pkey', ['fund_no', 'period_end', 'period_type'], expense, {
          ...{ fund_no: '2', period_end: '2024-02-01', period_type: 'ytd' },
        }),
        ...expenses.oneOf('period_type', 'mtd', 'ytd', 'day'),
        ...expenses.between(
          -100,
          1000,
          'ter_pct',
          'ter_excl_levies_pct',
          'government_levies_pct',
          'limit_pct',
        ),
        ...expenses.between(-100, 1000, 'management_fee_pct', 'selling_marketing_pct', 'accounting_pct'),
        ...expenses.between(-100, 1000, 'trustee_fee_pct', 'secp_fee_pct'),
        ...expenses.text(500, 'source'),
      ],
    },
  ];
}

function portfolios(): TableCases {
  const is = checksOf('portfolio_lines');
  const row = { fund_no: '1', as_of: day, section: 'holding', rank: '1' };
  return {
    table: 'data.portfolio_lines',
    row,
    defaults: updatedToday,
    cases: [
      key('portfolio_lines_pkey', ['fund_no', 'as_of', 'section', 'rank'], row, {
        ...{ fund_no: '2', as_of: '2024-02-01', section: 'sector', rank: '2' },
      }),
      ...is.oneOf('section', 'holding', 'asset_class', 'rating', 'sector', 'summary'),
      ...is.wholeFrom(1, 'rank'),
      ...is.text(500, 'name', 'source'),
      ...is.pattern('isin', isins.accepted, isins.refused),
      ...is.text(100, 'code', 'type'),
      ...is.text(200, 'sector'),
      ...is.text(80, 'rating'),
      ...is.finite('quantity', 'market_value', 'pct_net_assets', 'pct_total_assets', 'coupon_pct', 'ytm_pct'),
      ...is.notNegative('weighted_avg_maturity_days'),
      ...is.finite('modified_duration', 'portfolio_ytm_pct', 'cash_pct', 'leverage_pct'),
      ...is.oneOf('disclosure_scope', 'full', 'top10'),
    ],
  };
}

function figureTables(): TableCases[] {
  const figures = { fund_no: '1', fund_id: 'one', updated_on: day };
  const returns = { fund_no: '1', basis: 'absolute' };
  const formerFigures = { ...figures, is_stale: 'false', replaced_on: day };
  const formerReturns = { ...returns, replaced_on: day };
  const code = { code: 'ABC', fund_no: '1' };
  return [
    {
      table: 'data.fund_figures',
      before: [twoFunds],
      row: figures,
      defaults: { is_stale: false },
      cases: [
        key('fund_figures_pkey', ['fund_no'], figures, { fund_no: '2', fund_id: 'two' }),
        key('fund_figures_fund_id_key', ['fund_id'], figures, { fund_no: '2', fund_id: 'two' }),
      ],
      references: [ofFund('fund_figures')],
    },
    {
      table: 'data.fund_returns',
      before: [twoFunds],
      row: returns,
      cases: [
        key('fund_returns_pkey', ['fund_no', 'basis'], returns, { fund_no: '2', basis: 'annualized_simple' }),
        ...checksOf('fund_returns').oneOf('basis', 'absolute', 'annualized_simple', 'annualized_compound'),
      ],
      references: [ofFund('fund_returns')],
    },
    {
      table: 'data.former_fund_figures',
      row: formerFigures,
      cases: [
        key('former_fund_figures_pkey', ['fund_no', 'replaced_on'], formerFigures, {
          ...{ fund_no: '2', replaced_on: '2024-02-01' },
        }),
      ],
    },
    {
      table: 'data.former_fund_returns',
      row: formerReturns,
      cases: [
        key('former_fund_returns_pkey', ['fund_no', 'replaced_on', 'basis'], formerReturns, {
          ...{ fund_no: '2', replaced_on: '2024-02-01', basis: 'annualized_simple' },
        }),
      ],
    },
    {
      table: 'data.fund_figures_due',
      row: { fund_no: '1' },
      cases: [key('fund_figures_due_pkey', ['fund_no'], { fund_no: '1' }, { fund_no: '2' })],
    },
    {
      table: 'data.fund_codes',
      before: [twoFunds],
      row: code,
      cases: [key('fund_codes_pkey', ['code', 'fund_no'], code, { code: 'XYZ', fund_no: '2' })],
      references: [ofFund('fund_codes')],
    },
  ];
}

export const fundTables: readonly TableCases[] = [
  ...amcs(),
  funds(),
  ...records(),
  portfolios(),
  ...figureTables(),
];
