// Every percentage of every endpoint of the data-api, with every parameter: a computed one has at most ten significant digits, a published one its
// loaded digits. The loaded data would give more digits for both, so each field must be in one of the lists.
import test from 'ava';
import { parse } from 'csv-parse/sync';
import { publishedDocument } from '../../openapi/published.ts';
import { startListService, type ListService } from '../services/list-service.ts';
import { endpoints, requestsFor } from './endpoint-requests.ts';
import { initialLoads, loadInto, tradeConstants, type Load } from './every-dataset.ts';

const returns = ['1d', '7d', '15d', '1m', '3m', '6m', '1y', '2y', '3y', '5y', '10y', 'mtd', 'ytd', 'fytd', 'since_inception'].map((period) => `return_${period}_pct`); // prettier-ignore
const computed = ['acceptance_ratio_pct', 'alpha_pct', 'benchmark_pct', 'best_month_pct', 'category_avg_pct', 'change_1w_pct', 'change_1y_pct', 'down_capture_pct', 'market_share_pct', 'max_drawdown_1y_pct', 'max_drawdown_pct', 'positive_months_pct', 'return_annualized_pct', ...returns, 'share_pct', 'top10_pct', 'tracking_error_pct', 'up_capture_pct', 'value_pct', 'var_95_pct', 'volatility_1y_pct', 'volatility_pct', 'worst_month_pct', 'yoy_pct']; // prettier-ignore
const published = ['accounting_pct', 'back_end_load_pct', 'cap_pct', 'cash_pct', 'contingent_load_pct', 'coupon_pct', 'cutoff_yield_pct', 'floor_pct', 'front_end_load_pct', 'government_levies_pct', 'last_yield_pct', 'leverage_pct', 'limit_pct', 'management_fee_pct', 'max_bid_yield_pct', 'min_bid_yield_pct', 'payout_pct_of_par', 'pct_net_assets', 'pct_total_assets', 'portfolio_ytm_pct', 'previous_cutoff_yield_pct', 'secp_fee_pct', 'selling_marketing_pct', 'ter_excl_levies_pct', 'ter_pct', 'trustee_fee_pct', 'weighted_avg_yield_pct', 'yield_high_pct', 'yield_low_pct', 'yield_pct', 'ytm_pct']; // prettier-ignore
/** As published, or summed from the holdings. */
const either = ['pct', 'prev_pct'];

const rate = '2.345678901234';
const share = '8.123456789012';
const some = (count: number, text: string) => Array.from({ length: count }, () => text).join(',');

/** Fridays of ten years, then the weekdays of the last year, until 2024-06-28. */
const days = Array.from({ length: 4_020 }, (_, i) => new Date(Date.UTC(2013, 5, 28 + i))).filter(
  (day) => day.getUTCDay() === 5 || (day.getUTCDay() % 6 !== 0 && day.getTime() > Date.UTC(2023, 4)),
);
const levels = (id: string, wave: number) =>
  days.map(
    (day, i) =>
      `${id},${day.toISOString().slice(0, 10)},${(100 + i / 9 + 7 * Math.sin(i / wave)).toFixed(4)}`,
  );

const loads: readonly Load[] = [
  {
    dataset: 'observations',
    options: { vintage: '2024-06-30' },
    lines: ['series_id,date,value', ...levels('BENCH', 3), 'CPI,2023-04,97'],
  },
  {
    dataset: 'commodity-prices',
    options: { vintage: '2024-06-30' },
    lines: ['item,city,date,price', 'rice,karachi,2023-05-23,70'],
  },
  {
    dataset: 'funds',
    lines: [
      'fund_id,name,amc_id,category,asset_class,currency,benchmark_series,source,management_fee_pct,front_end_load_pct,back_end_load_pct,contingent_load_pct',
      `long,Long Fund,beta,Equity,equity,PKR,BENCH,Register,${some(4, rate)}`,
    ],
  },
  { dataset: 'nav', lines: ['fund,date,nav', ...levels('long', 4)] },
  { dataset: 'nav', lines: ['fund,date,aum', 'long,2024-06-28,33333333'] },
  {
    dataset: 'expenses',
    lines: [
      'fund,period_end,period_type,ter_pct,ter_excl_levies_pct,government_levies_pct,management_fee_pct,selling_marketing_pct,accounting_pct,trustee_fee_pct,secp_fee_pct,limit_pct',
      `long,2024-03-31,ytd,${some(9, rate)}`,
    ],
  },
  {
    dataset: 'payouts',
    lines: ['fund,ex_date,type,payout_per_unit,payout_pct_of_par', `long,2023-12-29,cash,1,${rate}`],
  },
  {
    dataset: 'portfolio',
    lines: [
      'fund,as_of,section,rank,name,type,sector,rating,disclosure_scope,pct_net_assets,pct_total_assets,coupon_pct,ytm_pct,portfolio_ytm_pct,cash_pct,leverage_pct',
      ...['2024-04-30', '2024-05-31'].flatMap((day) => [
        `long,${day},summary,1,,,,,full,,,,,${some(3, rate)}`,
        ...Array.from(
          { length: 11 },
          (_, i) => `long,${day},holding,${i + 1},Bond,Bond,Banks,AA,,${some(4, share)},,,`,
        ),
        `cash,${day},asset_class,1,Bills,,,,,${share},,,,,,`,
      ]),
    ],
  },
  {
    dataset: 'securities',
    lines: [
      'code,name,type,currency,source,coupon_pct,floor_pct,cap_pct',
      `TFC-3,Term,tfc,PKR,Exchange,${some(3, rate)}`,
    ],
  },
  { dataset: 'security-prices', lines: ['code,date,price,yield_pct', `TFC-3,2024-06-21,99,${rate}`] },
  {
    dataset: 'security-trades',
    lines: [
      'trade_id,trade_date,code,source,yield_pct,yield_low_pct,yield_high_pct',
      `T4,2024-06-21,TFC-3,Exchange,${some(3, rate)}`,
    ],
  },
  {
    dataset: 'auctions',
    lines: [
      'auction_id,instrument,tenor,auction_date,status,currency,source,bids_received_face,accepted_competitive,min_bid_yield_pct,max_bid_yield_pct,cutoff_yield_pct,weighted_avg_yield_pct,coupon_pct',
      ...['2024-06-05', '2024-06-19'].map(
        (day) => `B-${day},mtb,3M,${day},held,PKR,Bank,2100,700,${some(5, rate)}`,
      ),
    ],
  },
  {
    dataset: 'trade',
    options: tradeConstants,
    lines: [
      'reporter,flow,period,partner_code,commodity_code,value,currency',
      'PAK,export,2023-04,USA,010121,30,USD',
    ],
  },
];

let service: ListService;

test.before(async () => {
  service = await startListService();
  service.clock.set('2024-07-01T12:00:00Z');
  for (const load of [...initialLoads, ...loads]) await loadInto(service, load);
});

test.after.always(() => service?.close());

/** The significant digits. */
const significant = (text: string) =>
  text
    .replace(/e.*$/i, '')
    .replace(/\D/g, '')
    .replace(/^0+|0+$/g, '').length;

type Note = (field: string, text: string) => void;

/** Records every number of an answer with its text. */
async function noteNumbers(path: string, note: Note): Promise<void> {
  const { text, json, headers } = await service.call(path);
  if (headers.get('content-type')?.startsWith('text/csv') === true) {
    for (const row of parse<Record<string, string>>(text, { columns: true }))
      for (const [field, cell] of Object.entries(row)) note(field, cell);
  } else if (json !== undefined) {
    JSON.parse(text, (field, value: unknown, { source = '' }: { source?: string } = {}) => {
      if (typeof value === 'number') note(field, source);
      return value;
    });
  }
}

test('a computed percentage has at most ten significant digits, a published one has all of its digits', async (t) => {
  const longest = new Map<string, number>();
  const funds = [
    '',
    '/returns',
    '/analytics',
    '/analytics?window=5y&frequency=monthly',
    '/expenses',
    '/payouts',
    '/portfolio',
  ];
  const paths = [
    '/v1/amcs/beta',
    '/v1/securities/TFC-3/prices',
    ...funds.map((path) => `/v1/funds/long${path}`),
  ];
  for (const endpoint of endpoints) paths.push(...(await requestsFor(service, endpoint)));
  for (const path of new Set(paths)) {
    if (/_(?:min|max)=/.test(path)) continue; // bounds of the screener, which only filter
    const isTransformed = /transform=(?:pct_change|yoy|mom|index)/.test(path);
    await noteNumbers(path, (field, text) => {
      const name = field === 'value' && isTransformed ? 'transformed value' : field;
      longest.set(name, Math.max(longest.get(name) ?? 0, significant(text)));
      if (computed.includes(name) || name === 'transformed value')
        t.true(significant(text) <= 10, `${name} ${text} of ${path}`);
    });
  }
  for (const field of [...computed, 'transformed value'])
    t.is(longest.get(field), 10, `${field} is tried with more digits`);
  for (const field of published) t.is(longest.get(field), 13, field);
});

test('the shares of a portfolio are as published, or sums of ten digits', async (t) => {
  const noted: string[] = [];
  const note: Note = (field, text) => void (either.includes(field) && noted.push(text));
  await noteNumbers('/v1/funds/cash/portfolio', note);
  t.deepEqual(noted, [share, share]);
  noted.length = 0;
  await noteNumbers('/v1/funds/long/portfolio', note);
  t.deepEqual(noted, some(4, '89.35802468').split(',')); // 11 · share
});

test('every percentage in the document is listed as computed or as published', (t) => {
  const found = new Set<string>();
  JSON.stringify(publishedDocument(), (key, value: unknown) => {
    if (key === 'properties') for (const name of Object.keys(value as object)) found.add(name);
    return value;
  });
  const named = [...found].filter((name) => /(?:^|_)pct(?:_|$)/.test(name));
  t.deepEqual(named.sort(), [...computed, ...published, ...either].sort());
});
