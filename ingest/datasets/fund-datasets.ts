// The datasets of funds: managers, funds, NAVs, payouts, expenses, portfolios, for the table of datasets.
import {
  assetClasses,
  disclosureScopes,
  expensePeriods,
  fundStatuses,
  fundStructures,
  payoutTypes,
  portfolioSections,
} from '../../domain/funds/enums.ts';
import { amount, amountMax, column, day, flag, rate, required, text, word } from './column-types.ts';
import type { Dataset, Reference } from './dataset.ts';

const share = (name: string, meaning: string) => column(name, 'number', meaning, { range: [-1e6, 1e6] });
/** A price per unit. */
const price = (name: string, meaning: string) =>
  column(name, 'number', `${meaning}; zero means missing`, { zeroIsMissing: true });
const publisher = required('source', 'text', 'who publishes it', { lengthMax: 500 });
const source = text('source', 500, 'who publishes it; default: that of the fund');

const firstMonth = (meaning: string) =>
  column('fiscal_year_first_month', 'integer', meaning, { range: [1, 12] });

const fund = required('fund', 'text', 'its id, ISIN, symbol or source code, also a former one', {
  lengthMax: 80,
});

/** A fund by its id, or by a code that no other fund has. */
const aFund: Reference = {
  column: 'fund',
  table: 'data.funds',
  key: 'fund_id',
  number: 'fund_no',
  alsoBy: (name) =>
    `k.fund_no = (select min(fund_no) from data.fund_codes where code in (${name}, upper(${name})) having count(distinct fund_no) = 1)`,
  expected: 'the id of a fund that exists (dataset funds), or a code that only one of them has',
};

const amcs: Dataset = {
  name: 'amcs',
  meaning: 'Asset management companies. A new id creates a company; an existing id updates it.',
  kind: 'table',
  target: 'data.amcs',
  key: ['amc_id'],
  recordsFormerRows: true,
  ofFundFigures: true,
  columns: [
    required('amc_id', 'slug', 'id, by which funds refer to the company'),
    required('name', 'text', 'full name', { lengthMax: 300 }),
    text('short_name', 100, 'what it is called'),
    text('licence_no', 100, 'of the regulator'),
    text('rating', 20, 'as a manager, such as AM1'),
    text('rating_agency', 100, 'who rated it'),
    day('rating_date', 'when'),
    column('website', 'url', 'its URL'),
    day('established', 'when it was founded'),
    firstMonth('1 to 12: the month in which the fiscal year of its funds begins'),
    publisher,
  ],
};

const funds: Dataset = {
  name: 'funds',
  meaning:
    'Funds. A new id creates a fund; an existing id updates it. Changed names and codes are kept as former ones.',
  kind: 'table',
  target: 'data.funds',
  key: ['fund_id'],
  recordsFormerRows: true,
  ofFundFigures: true,
  references: [
    {
      column: 'amc_id',
      table: 'data.amcs',
      key: 'amc_id',
      expected: 'the id or the name of a company that exists (dataset amcs)',
    },
    {
      column: 'merged_into',
      table: 'data.funds',
      key: 'fund_id',
      expected: 'the id of a fund that exists or is in the file',
    },
    {
      column: 'benchmark_series',
      table: 'data.series',
      key: 'series_id',
      expected: 'the id of a series that exists',
    },
  ],
  columns: [
    required('fund_id', 'slug', 'id; a code, or a name that no other fund has', { reserved: ['screener'] }),
    required('name', 'text', 'full name, with plan and option', { lengthMax: 300 }),
    text('short_name', 100, 'what it is called'),
    text('symbol', 40, 'ticker'),
    column('isin', 'isin', 'of the growth option, if options have their own'),
    column('isin_payout', 'isin', 'of the option that pays out'),
    column('isin_reinvestment', 'isin', 'of the option that reinvests'),
    text('source_code', 80, 'what its source calls it'),
    column('amc_id', 'slug', 'who manages it'),
    text('category', 200, 'the funds that it is compared with'),
    word('asset_class', assetClasses, 'income and money_market quote short returns annualised'),
    word('structure', fundStructures, 'how its units are issued'),
    flag('shariah_compliant', 'whether it is'),
    text('risk_profile', 40, 'as published'),
    text('benchmark', 500, 'in words'),
    column('benchmark_series', 'series_id', 'a series with the level of the benchmark'),
    text('plan', 100, 'such as direct'),
    text('option', 100, 'such as growth or income'),
    required('currency', 'currency', 'ISO 4217'),
    day('launch_date', 'first day'),
    firstMonth('1 to 12: the month in which its fiscal year begins; default: that of the company'),
    word('status', fundStatuses, 'what became of it'),
    column('merged_into', 'slug', 'its successor fund'),
    text('objective', 5_000, 'what it is for'),
    text('trustee', 200, 'who holds its assets'),
    text('registrar', 200, 'who keeps the register of units'),
    text('auditor', 200, 'who audits it'),
    column('fund_managers', 'list', 'names, separated by ;'),
    text('listing', 100, 'where it is listed'),
    text('rating', 20, 'of the fund, such as AA(f)'),
    text('rating_outlook', 40, 'such as stable'),
    text('rating_agency', 100, 'who rated it'),
    day('rating_date', 'when'),
    text('amc_rating', 20, 'of the manager; default: that of the company'),
    word('pricing_mechanism', ['forward', 'backward'], 'which NAV a deal gets'),
    column('dealing_days', 'list', 'days and cut-off, such as Monday-Thursday 16:00; separated by ;'),
    amount('minimum_investment', 'in the currency'),
    column('management_fee_pct', 'number', 'per year', { range: [-100, 100] }),
    column('front_end_load_pct', 'number', 'of the NAV, when units are bought', { range: [0, 100] }),
    column('back_end_load_pct', 'number', 'of the NAV, when units are sold', { range: [0, 100] }),
    column('contingent_load_pct', 'number', 'when units are sold early', { range: [0, 100] }),
    text('dividend_policy', 1_000, 'in words'),
    text('leverage', 200, 'in words'),
    publisher,
  ],
};

const nav: Dataset = {
  name: 'nav',
  meaning:
    'Net asset values: one row per fund and day (with --wide, one column per fund). Loading a row again replaces the columns that the file has.',
  kind: 'table',
  target: 'data.navs',
  retractable: true,
  key: ['fund', 'date'],
  wide: { noun: 'fund', column: 'fund', value: 'nav' },
  ofFundFigures: true,
  references: [aFund],
  columns: [
    fund,
    required('date', 'date', 'day of the NAV', { hasHappened: true }),
    price('nav', 'net assets per unit'),
    price('offer_price', 'price at which units are sold'),
    price('repurchase_price', 'price at which units are bought back'),
    amount('aum', 'net assets, in the currency'),
    amount('units_outstanding', 'units'),
    day('validity_date', 'the day to which the prices apply, if another'),
  ],
};

const payouts: Dataset = {
  name: 'payouts',
  meaning: 'Payouts of funds: one row per fund, ex-date, type and kind.',
  kind: 'table',
  target: 'data.payouts',
  retractable: true,
  key: ['fund', 'ex_date', 'type', 'kind'],
  ofFundFigures: true,
  references: [aFund],
  columns: [
    fund,
    required('ex_date', 'date', 'ex-date: first day on which a unit is sold without the payout'),
    required('type', 'word', 'in cash, in units, or reinvested; or a split', { words: payoutTypes }),
    column(
      'kind',
      'slug',
      'distinguishes payouts of one type and day, such as income or long-term-gain; default: regular',
      {
        unlessGiven: 'regular',
      },
    ),
    column('split_ratio', 'number', 'for a split: new units per old unit', { range: [1e-9, 1e9] }),
    day('record_date', 'unit holders of this day receive the payout'),
    day('announcement_date', 'when it was announced'),
    day('payment_date', 'when it was paid'),
    text('financial_year', 20, 'such as 2025-26'),
    amount('payout_per_unit', 'in the currency; for a bonus, the value of the new units per old unit'),
    amount('payout_pct_of_par', 'percent points of the par value'),
    price('ex_nav', 'NAV after it'),
    price('cum_nav', 'NAV before it'),
    source,
  ],
  rules: [
    {
      columns: ['split_ratio', 'type'],
      holds: "(t.type = 'split') = (t.split_ratio is not null)",
      expected: 'new units per old unit if the type is split; otherwise empty',
    },
    {
      columns: ['type'],
      without: 'split_ratio',
      holds: "t.type <> 'split'",
      expected: 'for a split, also the column split_ratio',
    },
  ],
};

const expenses: Dataset = {
  name: 'expenses',
  meaning: 'Annual expenses of funds, as a share of net assets: one row per fund, day and period.',
  kind: 'table',
  target: 'data.expenses',
  retractable: true,
  key: ['fund', 'period_end', 'period_type'],
  ofFundFigures: true,
  references: [aFund],
  columns: [
    fund,
    required('period_end', 'date', 'last day of the period', { hasHappened: true }),
    required('period_type', 'word', 'month to date, year to date, or the rate that applies on the day', {
      words: expensePeriods,
    }),
    rate('ter_pct', 'total expense ratio, levies included'),
    rate('ter_excl_levies_pct', 'without levies'),
    rate('government_levies_pct', 'taxes and levies'),
    rate('management_fee_pct', 'fee of the manager'),
    rate('selling_marketing_pct', 'selling and marketing'),
    rate('accounting_pct', 'accounting'),
    rate('trustee_fee_pct', 'fee of the trustee'),
    rate('secp_fee_pct', 'fee of the regulator'),
    rate('limit_pct', 'what the regulator allows'),
    source,
  ],
};

const portfolio: Dataset = {
  name: 'portfolio',
  meaning:
    'Holdings of funds: the lines of a disclosure. A file has the whole portfolio of a fund and day; the last one loaded applies.',
  kind: 'table',
  target: 'data.portfolio_lines',
  key: ['fund', 'as_of', 'section', 'rank'],
  whole: ['fund', 'as_of'],
  recordsFormerRows: true,
  references: [aFund],
  columns: [
    fund,
    required('as_of', 'date', 'day of the portfolio', { hasHappened: true }),
    required(
      'section',
      'word',
      'what the line is: a holding, a share of a breakdown, or figures of the whole',
      {
        words: portfolioSections,
      },
    ),
    required('rank', 'integer', 'place within the section, from 1', { range: [1, 1e6] }),
    text('name', 500, 'of the holding, asset class, rating or sector'),
    column('isin', 'isin', 'of the holding'),
    text('code', 100, 'of the holding'),
    text('type', 100, 'asset class of the holding'),
    text('sector', 200, 'of the issuer'),
    text('rating', 80, 'of the holding'),
    column('quantity', 'number', 'units held', { range: [-amountMax, amountMax] }),
    column('market_value', 'number', 'in the currency of the fund', { range: [-amountMax, amountMax] }),
    share('pct_net_assets', 'share of net assets'),
    share('pct_total_assets', 'share of total assets'),
    share('coupon_pct', 'of the holding'),
    share('ytm_pct', 'yield to maturity of the holding'),
    day('maturity_date', 'of the holding'),
    amount('weighted_avg_maturity_days', 'summary: days, weighted average of the portfolio'),
    share('modified_duration', 'summary: years'),
    share('portfolio_ytm_pct', 'summary: yield to maturity'),
    share('cash_pct', 'summary: cash, share of net assets'),
    share('leverage_pct', 'summary: borrowings, share of net assets'),
    word('disclosure_scope', disclosureScopes, 'summary: whether all holdings are disclosed'),
    source,
  ],
};

export const fundDatasets: readonly Dataset[] = [amcs, funds, nav, payouts, expenses, portfolio];
