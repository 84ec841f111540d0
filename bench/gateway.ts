// The cost of a keyed call: our gateway with every check and Redis, against nginx with Lua, stock express-gateway, a bare proxy
// in Node (the floor), and no gateway. One run, the same upstream and the same bytes for all; the target on core 0, the load
// on core 1, Redis and the upstream on cores of their own if there are enough; the targets take turns, and the best round of each
// counts, since other work on the machine only adds time.
// Settings: BENCH_CORES (all there are; 2 puts all but the target on one), BENCH_SECONDS (2) a measurement, BENCH_ROUNDS (5),
// BENCH_CONNECTIONS (32), BENCH_EXPRESS_GATEWAY (where it is installed), BENCH_TARGETS (only those whose name contains one of
// these comma-separated words).
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { createClient } from 'redis';
import { createAccount, createKey } from '../accounts-api/operator/operator.ts';
import { connect } from '../accounts-api/database.ts';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';
import { load as ingest } from '../ingest/load/load.ts';
import { systemClock } from '../kernel/clock.ts';
import { openDatabase } from '../kernel/database.ts';
import { anonymous, createSealer, identityHeader } from '../kernel/identity.ts';
import { createLog } from '../kernel/log.ts';
import { loadPlans } from '../kernel/plans.ts';
import { projectRoot } from '../kernel/settings.ts';
import { migrate } from '../migrations/run.ts';
import { freePort } from '../test/services/instance.ts';
import { install, startStock } from './gateway/express-gateway.ts';
import { load, otherCore, probe, redisCore, startOn, targetCore } from './gateway/load.ts';
import type { Measured, Program, Target } from './gateway/load.ts';
import { hasNginx, startLuaGateway, startUpstream, type NginxServer } from './gateway/nginx.ts';
import { leaveMeasuredCore } from './instruments/cores.ts';
import { print } from './instruments/figures.ts';

const identitySecret = 'a secret of the bench, long enough';
const seriesPath = '/v1/series/BENCH';
const seconds = Number(process.env['BENCH_SECONDS'] ?? 2);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const connections = Number(process.env['BENCH_CONNECTIONS'] ?? 32);
const onlyNamed = process.env['BENCH_TARGETS']?.split(',');
const warmRequests = 100_000; // until V8 has compiled what they run: the first 50,000 cost twice as much
const warmSecondsMax = 15;
const accountCount = 100;
const names = {
  floor: 'floor: bare proxy in Node',
  ours: 'almanac, Redis',
  lua: 'nginx + Lua',
  stock: 'stock express-gateway',
} as const;
const seal = createSealer(identitySecret, 'data-api');

interface Bench {
  /** For every file of the run; removed with it. */
  directory: string;
  /** To be called last first. */
  stops: (() => Promise<void>)[];
}

/** Starts everything, measures, prints; stops and removes all it made, also on Ctrl-C and SIGTERM. */
export async function run(): Promise<void> {
  if (!hasNginx()) {
    throw new Error(
      'The bench needs: apt-get install nginx libnginx-mod-http-lua lua-nginx-redis wrk redis-server',
    );
  }
  leaveMeasuredCore();
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-bench-'));
  chmodSync(directory, 0o755); // PostgreSQL's user must reach it where root runs the bench
  const bench: Bench = { directory, stops: [] };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  const onSignal = () => void stop(bench).finally(() => process.exit(130));
  for (const signal of signals) process.once(signal, onSignal);
  try {
    report(await measure(await startTargets(bench)));
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    await stop(bench);
  }
}

async function stop({ directory, stops }: Bench): Promise<void> {
  for (const each of stops.splice(0).toReversed()) await each();
  rmSync(directory, { recursive: true, force: true });
}

async function measure(targets: readonly Target[]): Promise<Map<Target, Measured[]>> {
  const results = new Map<Target, Measured[]>(targets.map((target) => [target, []]));
  for (const target of targets) await probe(target);
  for (const target of targets) await warm(target);
  for (let round = 0; round < rounds; round += 1) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      results.get(target)?.push(await load(target, seconds, connections));
    }
  }
  return results;
}

/** The services, stores and keys that the targets stand on. */
interface Ground {
  dataApi: Program;
  accountsApi: Program;
  upstream: NginxServer;
  redisPort: number;
  redisUrl: string;
  plansFile: string;
  keys: readonly string[];
}

async function layGround(bench: Bench): Promise<Ground> {
  const { directory } = bench;
  const postgres = keep(bench, await startEmbeddedPostgres(path.join(directory, 'data')));
  const DATABASE_URL = postgres.url;
  await migrate(DATABASE_URL);
  await loadSeries(DATABASE_URL);
  const redisPort = await freePort();
  const redisUrl = `redis://127.0.0.1:${redisPort}`;
  const redisArgs = ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--dir', directory];
  const redisOutput = { core: redisCore, outputFile: path.join(directory, 'redis-output') };
  keep(bench, await startOn(redisOutput, ['redis-server', ...redisArgs], /(Ready to accept connections)/));
  const plansFile = path.join(directory, 'plans.yml');
  writeFileSync(
    plansFile,
    `plans:\n  - { id: free, name: Free, price_usd_month: 0, calls_month: 1000000000, calls_second: 1000000, concurrency: 100000, features: [] }\n`,
  );
  const env = { IDENTITY_SECRET: identitySecret, PLANS_FILE: plansFile, DATABASE_URL };
  const dataApi = await startService(bench, targetCore, 'data-api', { ...env, DATA_API_PORT: '0' });
  const accountsEnv = { ...env, REDIS_URL: redisUrl, ACCOUNTS_API_PORT: '0' };
  const accountsApi = await startService(bench, otherCore, 'accounts-api', accountsEnv);
  const body = await (await fetch(dataApi.said + seriesPath, { headers: sealed() })).text();
  const upstream = keep(bench, await startUpstream(directory, body));
  print(
    `upstream: ${body.length} bytes a call; ${connections} connections, ${rounds} rounds of ${seconds} s`,
  );
  const keys = await makeKeys(DATABASE_URL, plansFile);
  await copyKeys(redisUrl, keys);
  return { dataApi, accountsApi, upstream, redisPort, redisUrl, plansFile, keys };
}

/** Until its code is compiled: on a busy machine that takes requests rather than seconds. */
async function warm(target: Target): Promise<void> {
  for (let requests = 0, chunks = 0; requests < warmRequests && chunks < warmSecondsMax; chunks += 1) {
    requests += (await load(target, 1, connections)).requests;
  }
}

async function startTargets(bench: Bench): Promise<Target[]> {
  const { directory } = bench;
  const targets: Target[] = [];
  const isWanted = (name: string) => onlyNamed === undefined || onlyNamed.some((word) => name.includes(word));
  const add = (name: string, url: string, pids: readonly number[], headers: Target['headers']) => {
    if (isWanted(name)) targets.push({ name, url: url + seriesPath, pids, headers });
  };
  const stockDirectory = process.env['BENCH_EXPRESS_GATEWAY'] ?? path.join(directory, 'express-gateway');
  const installing = isWanted(names.stock) ? install(stockDirectory) : undefined; // meanwhile all else is started

  const { dataApi, accountsApi, upstream, redisPort, redisUrl, plansFile, keys } = await layGround(bench);
  const env = {
    ...{ IDENTITY_SECRET: identitySecret, PLANS_FILE: plansFile, PORT: '0' },
    ...{ DATA_API_URL: upstream.url, ACCOUNTS_API_URL: accountsApi.said },
    LOG_LEVEL: 'info', // with its access log
  };
  const ours = await startService(bench, targetCore, 'gateway', { ...env, REDIS_URL: redisUrl });
  const withoutRedis = await startService(bench, targetCore, 'gateway', env);
  const floorArgs = [path.join(import.meta.dirname, 'gateway/floor.ts'), upstream.url];
  const floor = await startNode(bench, targetCore, floorArgs);
  const lua = keep(bench, await startLuaGateway(directory, { upstreamUrl: upstream.url, redisPort }));
  const sets = keys.map((key) => ({ 'x-api-key': key }));
  const one = () => sets.slice(0, 1);
  add('direct: the upstream', upstream.url, upstream.pids, () => [{}]);
  add('direct: data-api', dataApi.said, [dataApi.pid], () => [sealed()]);
  add(names.floor, floor.said, [floor.pid], () => [{}]);
  add(names.ours, ours.said, [ours.pid], one);
  add(`almanac, Redis, ${accountCount} accounts`, ours.said, [ours.pid], () => sets);
  add('almanac, no Redis', withoutRedis.said, [withoutRedis.pid], one);
  add(names.lua, lua.url, lua.pids, one);
  if (installing === undefined) return targets;
  if (await installing) {
    const stock = keep(bench, await startStock(stockDirectory, { upstreamUrl: upstream.url, redisPort }));
    const headers = [{ authorization: `apiKey ${stock.key}` }];
    add(names.stock, stock.url, stock.pids, () => headers);
  } else print('stock express-gateway could not be installed and is left out');
  return targets;
}

function keep<Started extends { stop(): Promise<void> }>({ stops }: Bench, started: Started): Started {
  stops.push(() => started.stop());
  return started;
}

function startService(
  bench: Bench,
  core: string,
  service: string,
  env: Record<string, string>,
): Promise<Program> {
  const words = [path.join(projectRoot, 'almanac.js'), 'start', service];
  return startNode(bench, core, words, { HOST: '127.0.0.1', ...env });
}

/** A program in Node, which says where it listens. */
async function startNode(
  bench: Bench,
  core: string,
  words: readonly string[],
  env: Record<string, string> = {},
): Promise<Program> {
  const where = { core, outputFile: path.join(bench.directory, `output-${bench.stops.length}`), env };
  return keep(bench, await startOn(where, [process.execPath, ...words], /is running: (http:\S+)/));
}

function sealed(): Record<string, string> {
  return { [identityHeader]: seal(anonymous) };
}

/** 300 monthly points. */
async function loadSeries(databaseUrl: string): Promise<void> {
  const database = openDatabase(databaseUrl, createLog('bench', 'error'), { applicationName: 'bench' });
  const lines = Array.from({ length: 300 }, (_, i) => {
    const date = new Date(Date.UTC(2000, i + 1, 0)).toISOString().slice(0, 10);
    return `BENCH,${date},${(100 + Math.sin(i) * 10).toFixed(2)}`;
  });
  await ingest(database, {
    dataset: 'observations',
    input: Readable.from([`series_id,date,value\n${lines.join('\n')}\n`]),
    create: true,
    set: { unit: 'Index', frequency: 'monthly', source: 'Bench' },
    seriesTimeZone: 'UTC',
    clock: systemClock,
  });
  await database.close();
}

/** A key each of many accounts. */
async function makeKeys(databaseUrl: string, plansFile: string): Promise<string[]> {
  const db = connect(databaseUrl);
  const deps = { db, plans: loadPlans(plansFile), clock: systemClock };
  const keys: string[] = [];
  for (let i = 0; i < accountCount; i += 1) {
    const account = await createAccount(deps, { email: `bench-${i}@example.org`, plan: 'free' });
    keys.push((await createKey(deps, account.id, 'bench')).key);
  }
  await db.close();
  return keys;
}

/** Where nginx + Lua looks them up. */
async function copyKeys(redisUrl: string, keys: readonly string[]): Promise<void> {
  const redis = createClient({ url: redisUrl });
  await redis.connect();
  for (const [i, key] of keys.entries()) await redis.set(`key:${key}`, `account-${i}`);
  redis.destroy();
}

function report(results: ReadonlyMap<Target, readonly Measured[]>): void {
  const rows = [...results].map(([{ name }, measured]) => ({
    name,
    rps: Math.max(...measured.map((m) => m.requestsPerSecond)),
    p50: Math.min(...measured.map((m) => m.p50Ms)),
    p99: Math.min(...measured.map((m) => m.p99Ms)),
    cpu: Math.min(...measured.map((m) => m.cpuUsPerRequest)),
  }));
  const widths = [30, 9, 9, 9, 9];
  const row = (...cells: string[]) =>
    print(
      cells
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join(''),
    );
  row('best of the rounds', 'req/s', 'p50 ms', 'p99 ms', 'CPU µs');
  for (const { name, rps, p50, p99, cpu } of rows) {
    row(name, rps.toFixed(0), p50.toFixed(2), p99.toFixed(2), cpu.toFixed(1));
  }
  const of = (name: string) => rows.find((row) => row.name === name);
  const ours = of(names.ours);
  for (const rival of [of(names.lua), of(names.stock), of(names.floor)]) {
    if (ours === undefined || rival === undefined) continue;
    const [speed, cpu] = [ours.rps / rival.rps, rival.cpu / ours.cpu];
    print(`almanac, Redis against ${rival.name}: ${speed.toFixed(2)}× req/s, ${cpu.toFixed(2)}× by CPU`);
  }
}
