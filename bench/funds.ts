// Times the calls about funds with 15,000 funds and 30 million NAVs, side by side with a hundredth of the funds.
// NAVs are written a day at a time for all funds, as they come in, so that the rows of one fund lie far apart. Every call is
// made many times at both sizes by turns, and the middle one counts. Also times a day's load, its figures included.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import pg from 'pg';
import { start } from '../data-api/main.ts';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';
import { load } from '../ingest/load.ts';
import { systemClock } from '../kernel/clock.ts';
import { openDatabase, type Database } from '../kernel/database.ts';
import type { RunningRoom } from '../kernel/http.ts';
import { createSealer, identityHeader } from '../kernel/identity.ts';
import { createLog } from '../kernel/log.ts';
import { migrate } from '../migrations/run.ts';

const sizes = [150, 15_000];
const callsEach = 60;
const ratioMax = 1.5;
/** So many funds have twenty years, the others less than eight: two thousand days. */
const oldFunds = 100;
const [firstYear, firstYearOfMost, lastYear] = [2006, 2018, 2025];
const fundsPerCategory = 30;
const identitySecret = 'a secret of the bench, long enough';
const log = createLog('bench', 'error');

const calls = [
  '/v1/funds',
  '/v1/funds?category=Category+1',
  '/v1/funds?amc=amc-1&limit=3',
  '/v1/funds/fund-7',
  '/v1/funds/fund-7/nav?sort=-date',
  '/v1/funds/fund-7/nav?limit=1000',
  '/v1/funds/fund-7/nav?limit=1000&adjusted=false',
  '/v1/funds/fund-7/nav?frequency=monthly',
  '/v1/funds/fund-7/returns',
  '/v1/funds/fund-7/analytics?window=5y',
  '/v1/funds/screener',
  '/v1/funds/screener?sort=-sharpe_1y&return_1y_pct_min=0',
  '/v1/funds/screener?sort=volatility_1y_pct&shariah=true',
  '/v1/funds/screener?sort=-aum&aum_min=1000',
];

/** Builds, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-bench-'));
  chmodSync(directory, 0o755); // the server's user must reach it where root runs the bench
  const postgres = await startEmbeddedPostgres(directory);
  const rooms: RunningRoom[] = [];
  try {
    for (const funds of sizes) rooms.push(await build(postgres.url, funds));
    await compare(rooms.map((room) => room.url));
  } finally {
    for (const room of rooms) await room.close();
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function build(serverUrl: string, funds: number): Promise<RunningRoom> {
  const name = `bench_${funds}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate(url.href);
  const database = openDatabase(url.href, log, { applicationName: 'almanac bench', statementTimeoutMs: 0 });
  await loadLines(database, 'amcs', amcLines());
  await loadLines(database, 'funds', fundLines(funds));
  const started = performance.now();
  for (let year = firstYear; year <= lastYear; year += 1) await writeYear(database, year);
  print(`${funds} funds: NAVs written in ${((performance.now() - started) / 1000).toFixed(0)} s`);
  await database.query('vacuum analyze');
  const seconds = await loadLines(database, 'nav', dayLines(funds));
  print(`${funds} funds: the NAVs of a day load in ${seconds.toFixed(1)} s, with the figures of all`);
  await database.query('vacuum analyze');
  await database.close();
  return start({
    databaseUrl: url.href,
    identitySecret,
    seriesTimeZone: 'UTC',
    host: '127.0.0.1',
    port: 0,
    log,
    clock: systemClock,
  });
}

/** @returns seconds. */
async function loadLines(database: Database, dataset: string, lines: Iterable<string>): Promise<number> {
  const input = Readable.from([[...lines].join('\n')]);
  return (await load(database, { dataset, input, seriesTimeZone: 'UTC', clock: systemClock })).seconds;
}

/** A smooth path of each fund's own; the figures are refreshed once, by the day that is loaded in the end. */
async function writeYear(database: Database, year: number): Promise<void> {
  await database.query(
    `insert into data.navs (fund_no, date, nav, aum)
     select f.fund_no, day, round((100 * exp(t / 4000.0 + 0.1 * sin(t / (20.0 + f.fund_no % 17))))::numeric, 4),
       case when extract(day from day) = 28 then 1000 * f.fund_no end
     from generate_series(make_date($1, 1, 1), make_date($1, 12, 31), interval '1 day') day,
       lateral (select day::date - date '2006-01-01' as t), data.funds f
     where extract(isodow from day) < 6 and ($1 >= $2 or f.fund_no <= $3)
     order by day, f.fund_no`,
    [year, firstYearOfMost, oldFunds],
  );
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

async function compare(urls: readonly string[]): Promise<void> {
  const seal = createSealer(identitySecret, 'data-api');
  const identity = {
    scope: 'client',
    accountId: 'a',
    keyId: 'k',
    sessionId: null,
    plan: 'pro',
    features: [],
  } as const;
  print(
    `${'call'.padEnd(58)}${sizes.map((size) => `${size} funds`.padStart(16)).join('')}   ratio (goal: ${ratioMax})`,
  );
  for (const call of calls) {
    const times: number[][] = urls.map(() => []);
    for (let i = 0; i < callsEach; i += 1) {
      for (const [at, url] of urls.entries()) {
        const started = performance.now();
        const response = await fetch(url + call, { headers: { [identityHeader]: seal(identity) } });
        const body = await response.text();
        times[at]?.push(performance.now() - started);
        if (response.status !== 200) throw new Error(`${call}: ${response.status} ${body.slice(0, 200)}`);
      }
    }
    const [small = NaN, large = NaN] = times.map((each) => each.toSorted((a, b) => a - b)[callsEach >> 1]);
    const shown = [small, large].map((time) => `${time.toFixed(2)} ms`.padStart(16)).join('');
    print(`${call.padEnd(58)}${shown}   ${(large / small).toFixed(2)}`);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
