// Times the calls for funds with 15,000 funds and 30 million NAVs, compared with a hundredth of the funds. All NAVs but those of the last year are
// written at once, the last year one day at a time for all funds, as in practice: the rows of one fund are scattered. The last day is loaded by
// ingest, which computes the figures.
import type { Database } from '../kernel/database.ts';
import { writeNavs } from './funds/fill.sql.ts';
import { print } from './instruments/figures.ts';
import { compareSizes, loadLines } from './instruments/sizes.ts';

/** This many funds have twenty years, the others less than eight: two thousand days. */
const oldFunds = 100;
const [firstYear, firstYearOfMost, lastYear] = [2006, 2018, 2025];
const fundsPerCategory = 30;

/** Calls whose answers have the same number of rows at either size. */
const calls = [
  '/v1/amcs',
  '/v1/funds',
  '/v1/funds?category=Category+1',
  '/v1/funds?amc=amc-1&limit=3',
  '/v1/funds?sort=aum',
  '/v1/funds?sort=-name',
  '/v1/funds?q=und+149&limit=1',
  '/v1/funds/fund-7',
  '/v1/funds/fund-7/nav?sort=-date',
  '/v1/funds/fund-7/nav?limit=1000',
  '/v1/funds/fund-7/nav?limit=1000&adjusted=false',
  '/v1/funds/fund-7/nav?frequency=monthly',
  '/v1/funds/fund-7/returns',
  '/v1/funds/fund-7/analytics?window=5y',
  '/v1/funds/screener',
  '/v1/funds/screener?sort=-sharpe_1y&return_1y_pct_min=0',
  '/v1/funds/screener?sort=volatility_1y_pct&shariah=true&limit=40',
  '/v1/funds/screener?sort=-aum&aum_min=1000',
];

/** Builds, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  await compareSizes({ sizes: [150, 15_000], unit: 'funds', fill, calls });
}

async function fill(database: Database, funds: number): Promise<void> {
  await loadLines(database, 'amcs', amcLines());
  await loadLines(database, 'funds', fundLines(funds));
  const count = await writeNavs(database, { oldFunds, firstYear, firstYearOfMost, lastYear });
  print(`  ${count} NAVs written`);
  await database.query('vacuum analyze data.navs'); // as autovacuum eventually would
  await loadLines(database, 'nav', dayLines(funds));
}

function* amcLines(): Iterable<string> {
  yield 'amc_id,name,source';
  for (let i = 0; i < 50; i += 1) yield `amc-${i},Company ${i},Bench`;
}

function* fundLines(funds: number): Iterable<string> {
  yield 'fund_id,name,amc_id,category,asset_class,shariah_compliant,currency,source';
  for (let i = 0; i < funds; i += 1) {
    const category = Math.floor(i / fundsPerCategory);
    yield `fund-${i},Fund ${i},amc-${i % 50},Category ${category},equity,${i % 3 === 0},PKR,Bench`;
  }
}

function* dayLines(funds: number): Iterable<string> {
  yield 'fund,date,nav';
  for (let i = 0; i < funds; i += 1) yield `fund-${i},${lastYear + 1}-01-01,${(600 + i / 100).toFixed(4)}`;
}
