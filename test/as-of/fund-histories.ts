// Random histories of loads of funds, their companies and their records, and of retractions of them.
import fc from 'fast-check';
import type { Load } from '../v1/every-dataset.ts';
import { anyHistoryOf, anyLoadOf } from './row-histories.ts';

/** The endpoints of funds. */
export const fundRoutes: readonly string[] = [
  ...['/v1/amcs', '/v1/amcs/:amc', '/v1/funds', '/v1/funds/screener', '/v1/funds/:id', '/v1/funds/:id/nav'],
  ...['/v1/funds/:id/returns', '/v1/funds/:id/payouts', '/v1/funds/:id/expenses', '/v1/funds/:id/portfolio'],
  '/v1/funds/:id/analytics',
];

/** Known from the first day on; loads add others. */
const known: readonly Load[] = [
  {
    dataset: 'series',
    lines: [
      'series_id,name,unit,frequency,source,category,tags',
      'BENCH,Benchmark,Index,daily,Exchange,,',
      'CPI,Consumer prices,Index,monthly,Office,,',
      'PRICES,Prices,Index,quarterly,Bureau,,',
    ],
  },
  {
    dataset: 'observations',
    lines: ['series_id,date,value', 'BENCH,2023-04-14,1000', 'BENCH,2024-04-15,1100', 'PRICES,2024-03,2'],
  },
  {
    dataset: 'amcs',
    lines: ['amc_id,name,short_name,source', 'alpha,Alpha Management,AM,Register', 'beta,Beta,,Register'],
  },
  {
    dataset: 'funds',
    lines: [
      'fund_id,name,symbol,amc_id,category,asset_class,currency,benchmark_series,source',
      'share,Share Fund,SF,alpha,Equity,equity,PKR,BENCH,Register',
      'cash,Cash Fund,CF,alpha,Money market,money_market,PKR,,Register',
    ],
  },
];

const anyAmcs = anyLoadOf('amcs', { columns: 'amc_id', rows: ['alpha', 'beta', 'gamma'] }, [
  { columns: 'name,rating,source', rows: ['Alpha,AM1,Register', 'Beta,AM2,Office', 'Gamma,,Register'] },
]);
const anyFunds = anyLoadOf('funds', { columns: 'fund_id', rows: ['share', 'cash', 'growth', 'dollar'] }, [
  {
    columns: 'name,symbol,category,amc_id,currency,source',
    rows: [
      'Fund,SF,Equity,alpha,PKR,Register',
      'Growth,GF,Equity,beta,PKR,Office',
      'Dollar,,Bond,alpha,USD,Office',
    ],
  },
  {
    columns: 'name,status,currency,launch_date,front_end_load_pct,source',
    rows: [
      'Fund,active,PKR,2022-01-01,2.5,Register',
      'Old Fund,merged,PKR,,,Register',
      'Share Fund,,PKR,,1,Office',
    ],
  },
]);
const ofFunds = (names: readonly string[], dates: readonly string[]) =>
  names.flatMap((fund) => dates.map((date) => `${fund},${date}`));
const dates = [
  '2023-03-31',
  '2023-04-14',
  '2024-01-15',
  '2024-03-01',
  '2024-04-12',
  '2024-04-15',
  '2024-04-16',
];
const anyNavs = anyLoadOf('nav', { columns: 'fund,date', rows: ofFunds(['share', 'cash'], dates) }, [
  { columns: 'nav,aum', rows: ['10,', '10.5,1000000', '11.25,2000000.5', ',500000'] },
  { columns: 'nav', rows: ['10.1', '12', ''] },
]);
/** Their funds may be unknown, and the load is refused then. */
const anyNavsOfOthers = anyLoadOf(
  'nav',
  { columns: 'fund,date', rows: ofFunds(['growth', 'dollar'], dates) },
  [{ columns: 'nav,aum', rows: ['10,100', '10.5,1000000'] }],
);
const anyPayouts = anyLoadOf(
  'payouts',
  {
    columns: 'fund,ex_date,type',
    rows: ['share,2024-01-15,cash', 'share,2024-04-12,bonus', 'cash,2024-03-01,reinvest'],
  },
  [{ columns: 'payout_per_unit,financial_year', rows: ['0.5,2023-24', '1,', ','] }],
);
const anyExpenses = anyLoadOf(
  'expenses',
  {
    columns: 'fund,period_end,period_type',
    rows: ['cash,2024-03-31,ytd', 'cash,2024-03-31,mtd', 'share,2023-12-31,ytd'],
  },
  [
    { columns: 'ter_pct', rows: ['0.9', '1.1', ''] },
    { columns: 'ter_pct,management_fee_pct', rows: ['2,0.5', '2.1,'] },
  ],
);
/** A file states the whole portfolio of a day, so lines can disappear and return. */
const anyPortfolio = anyLoadOf(
  'portfolio',
  {
    columns: 'fund,as_of,section,rank',
    rows: [
      ...['share,2024-03-31,holding,1', 'share,2024-03-31,holding,2', 'share,2024-03-31,holding,3'],
      ...['share,2024-04-15,holding,1', 'share,2024-04-15,holding,2'],
    ],
  },
  [
    {
      columns: 'name,type,sector,rating,pct_net_assets',
      rows: ['Bank A,Equity,Banks,,60', 'Bill,T-bill,,AAA,9.5'],
    },
  ],
);

const anyLoads = fc.oneof(
  ...[anyAmcs, anyFunds, anyPayouts, anyExpenses, anyPortfolio].map((arbitrary) => ({
    weight: 2,
    arbitrary,
  })),
  { weight: 1, arbitrary: anyNavsOfOthers },
  { weight: 4, arbitrary: anyNavs },
);

export const anyFundHistory = anyHistoryOf(anyNavs, anyLoads, known);
