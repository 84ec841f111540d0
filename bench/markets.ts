// Times the lists of security trades and of external trade over a million rows each, side by side with a hundredth of them.
// Everything comes from one seed; each call is made many times at both sizes by turns, and the middle one counts.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import pg from 'pg';
import { start } from '../data-api/main.ts';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';
import { load } from '../ingest/load.ts';
import { systemClock } from '../kernel/clock.ts';
import { openDatabase } from '../kernel/database.ts';
import type { RunningRoom } from '../kernel/http.ts';
import { createSealer, identityHeader } from '../kernel/identity.ts';
import { createLog } from '../kernel/log.ts';
import { addDays, addMonths } from '../kernel/periods.ts';
import { migrate } from '../migrations/run.ts';

const sizes = [10_000, 1_000_000];
const callsEach = 60;
const ratioMax = 1.5;
const identitySecret = 'a secret of the bench, long enough';
const log = createLog('bench', 'error');

const securitiesTotal = 400;
const monthsTotal = 24;
const partners = Array.from({ length: 40 }, (_, i) => `A${letter(Math.floor(i / 26))}${letter(i)}`);

/** Calls whose answers have as many rows at either size. */
const calls = [
  '/v1/securities/trades',
  '/v1/securities/trades?sort=trade_date',
  '/v1/securities/trades?code=BOND-17',
  '/v1/securities/trades?type=sukuk',
  '/v1/securities/trades?venue=OTC',
  '/v1/securities/trades?min_amount=900000',
  '/v1/trade?flow=export',
  '/v1/trade?partner=AAA&period=2025-03&limit=50',
  '/v1/trade?commodity=010001',
  '/v1/trade?level=2',
  '/v1/trade?reporter=AAA&flow=import&sort=date',
  '/v1/trade?sort=-value',
];

/** Builds, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-bench-'));
  chmodSync(directory, 0o755); // the server's user must reach it where root runs the bench
  const postgres = await startEmbeddedPostgres(directory);
  const rooms: RunningRoom[] = [];
  try {
    for (const rows of sizes) rooms.push(await build(postgres.url, rows));
    await compare(rooms.map((room) => room.url));
  } finally {
    for (const room of rooms) await room.close();
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function build(serverUrl: string, rows: number): Promise<RunningRoom> {
  const name = `bench_${rows}`;
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate(url.href);
  const database = openDatabase(url.href, log, { applicationName: 'almanac bench', statementTimeoutMs: 0 });
  for (const [dataset, lines] of [
    ['securities', securityLines()],
    ['security-trades', securityTradeLines(rows)],
    ['trade', tradeLines(rows)],
  ] as const) {
    const { seconds, rowsPerSecond } = await load(database, {
      dataset,
      input: Readable.from(pieces(lines)),
      seriesTimeZone: 'UTC',
      clock: systemClock,
    });
    print(`${dataset}: loaded in ${seconds.toFixed(1)} s, ${rowsPerSecond} rows a second`);
  }
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
    `${'call'.padEnd(62)}${sizes.map((size) => `${size} rows`.padStart(16)).join('')}   ratio (goal: ${ratioMax})`,
  );
  for (const call of calls) {
    const times: number[][] = urls.map(() => []);
    for (let i = 0; i < callsEach; i += 1) {
      for (const [at, url] of urls.entries()) {
        const started = performance.now();
        const response = await fetch(url + call, { headers: { [identityHeader]: seal(identity) } });
        const body = await response.text();
        times[at]?.push(performance.now() - started);
        if (response.status !== 200)
          throw new Error(`${call} was answered ${response.status}: ${body.slice(0, 200)}`);
      }
    }
    const [small = NaN, large = NaN] = times.map((each) => each.toSorted((a, b) => a - b)[callsEach >> 1]);
    print(
      `${call.padEnd(62)}${[small, large].map((time) => `${time.toFixed(2)} ms`.padStart(16)).join('')}   ${(large / small).toFixed(2)}`,
    );
  }
}

function* securityLines(): Iterable<string> {
  yield 'code,name,type,currency,source';
  for (let i = 0; i < securitiesTotal; i += 1)
    yield `BOND-${i},Bond ${i},${i % 50 === 3 ? 'sukuk' : 'corporate_bond'},PKR,Bench`;
}

function* securityTradeLines(rows: number): Iterable<string> {
  const draw = seeded(1);
  yield 'trade_id,trade_date,code,side,price,face_amount,amount,venue,status';
  for (let i = 0; i < rows; i += 1) {
    const day = addDays('2024-01-01', Math.floor((i / rows) * 730));
    const price = (90 + 20 * draw()).toFixed(4);
    const venue = draw() < 0.01 ? 'OTC' : 'EXCHANGE';
    yield `T${i},${day},BOND-${Math.floor(draw() * securitiesTotal)},${draw() < 0.5 ? 'buy' : 'sell'},${price},1000000,${Math.floor(draw() * 1e6)},${venue},new`;
  }
}

/** Every month, flow and partner has the same commodities; at either size there are at least two. */
function* tradeLines(rows: number): Iterable<string> {
  const draw = seeded(2);
  yield 'reporter,flow,period,partner_code,classification,commodity_code,basis,currency,value,quantity,quantity_unit,source';
  const commodities = Math.floor(rows / (monthsTotal * 2 * partners.length));
  for (let month = 0; month < monthsTotal; month += 1) {
    const period = addMonths('2024-01-01', month).slice(0, 7);
    for (const flow of ['import', 'export'])
      for (const partner of partners)
        for (let i = 1; i <= commodities; i += 1) {
          const code = i === 1 && month % 6 === 0 ? '01' : `01${String(i).padStart(4, '0')}`;
          yield `AAA,${flow},${period},${partner},hs,${code},customs,USD,${Math.floor(draw() * 1e7)},${Math.floor(draw() * 1e4)},KGM,Bench`;
        }
  }
}

function* pieces(lines: Iterable<string>): Iterable<string> {
  let piece = '';
  for (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < 65_536) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

function letter(i: number): string {
  return String.fromCharCode(65 + (i % 26));
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
