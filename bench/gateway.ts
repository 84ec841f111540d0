// What a keyed call costs: our gateway with every check and Redis, against nginx with Lua, stock express-gateway and none at all.
// One run, the same upstream and the same bytes for all; the target on core 0, everything else on core 1; rounds take turns,
// and the best round of each counts, for what others do on the machine only ever adds.
// Settings: BENCH_SECONDS (3) a measurement, BENCH_ROUNDS (5), BENCH_CONNECTIONS (32), BENCH_EXPRESS_GATEWAY (where it is installed).
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from 'redis';
import { createAccount, createKey } from '../accounts-api/operator.ts';
import { connect } from '../accounts-api/database.ts';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';
import { load as ingest } from '../ingest/load.ts';
import { systemClock } from '../kernel/clock.ts';
import { openDatabase } from '../kernel/database.ts';
import { anonymous, createSealer, identityHeader } from '../kernel/identity.ts';
import { createLog } from '../kernel/log.ts';
import { loadPlans } from '../kernel/plans.ts';
import { projectRoot } from '../kernel/settings.ts';
import { migrate } from '../migrations/run.ts';
import { freePort } from '../test/instance.ts';
import { install, startStock } from './gateway/express-gateway.ts';
import { load, otherCore, startOn, targetCore, type Measured, type Target } from './gateway/load.ts';
import { hasNginx, startLuaGateway, startUpstream } from './gateway/nginx.ts';
import { Readable } from 'node:stream';

const identitySecret = 'a secret of the bench, long enough';
const seriesPath = '/v1/series/BENCH';
const seconds = Number(process.env['BENCH_SECONDS'] ?? 3);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const connections = Number(process.env['BENCH_CONNECTIONS'] ?? 32);

/** Starts everything, measures, prints; stops and removes all it made. */
export async function run(): Promise<void> {
  if (!hasNginx()) {
    throw new Error(
      'The bench needs: apt-get install nginx libnginx-mod-http-lua lua-nginx-redis wrk redis-server',
    );
  }
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-bench-'));
  chmodSync(directory, 0o755);
  const stops: (() => Promise<void>)[] = [];
  try {
    const targets = await startTargets(directory, stops);
    const results = new Map<Target, Measured[]>(targets.map((target) => [target, []]));
    for (const target of targets) load(target, 2, connections); // warm: compiled code, connections, caches
    for (let round = 0; round < rounds; round += 1) {
      for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
        results.get(target)?.push(load(target, seconds, connections));
      }
    }
    report(results);
  } finally {
    for (const stop of stops.toReversed()) await stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function startTargets(directory: string, stops: (() => Promise<void>)[]): Promise<Target[]> {
  function keep<Started extends { stop(): Promise<void> }>(started: Started): Started {
    stops.push(() => started.stop());
    return started;
  }
  const postgres = keep(await startEmbeddedPostgres(path.join(directory, 'data')));
  await migrate(postgres.url);
  await loadSeries(postgres.url);
  const redisPort = await freePort();
  const redisArgs = ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--dir', directory];
  keep(await startOn(otherCore, ['redis-server', ...redisArgs], /(Ready to accept connections)/));
  const redisUrl = `redis://127.0.0.1:${redisPort}`;
  const plansFile = path.join(directory, 'plans.yml');
  writeFileSync(
    plansFile,
    `plans:\n  - { id: free, name: Free, price_usd_month: 0, calls_month: 1000000000, calls_second: 1000000, features: [] }\n`,
  );
  const env = {
    IDENTITY_SECRET: identitySecret,
    DATABASE_URL: postgres.url,
    PLANS_FILE: plansFile,
    HOST: '127.0.0.1',
  };
  const almanac = async (core: string, room: string, more: Record<string, string>) => {
    const command = [process.execPath, path.join(projectRoot, 'almanac.js'), 'start', room];
    return keep(await startOn(core, command, /is running: (http:\S+)/, { ...env, ...more }));
  };
  const dataApi = await almanac(targetCore, 'data-api', { DATA_API_PORT: '0' });
  const accountsApi = await almanac(otherCore, 'accounts-api', {
    ACCOUNTS_API_PORT: '0',
    REDIS_URL: redisUrl,
  });
  const seal = createSealer(identitySecret, 'data-api');
  const direct = () => ({ [identityHeader]: seal(anonymous) });
  const body = await (await fetch(dataApi.said + seriesPath, { headers: direct() })).text();
  const upstream = keep(await startUpstream(directory, body));
  print(
    `upstream: ${body.length} bytes a call; ${connections} connections, ${rounds} rounds of ${seconds} s`,
  );

  const gatewayEnv = { PORT: '0', DATA_API_URL: upstream.url, ACCOUNTS_API_URL: accountsApi.said };
  const ours = await almanac(targetCore, 'gateway', { ...gatewayEnv, REDIS_URL: redisUrl });
  const withoutRedis = await almanac(targetCore, 'gateway', gatewayEnv);
  const key = await makeKey(postgres.url, plansFile);
  const keyed = () => ({ 'x-api-key': key });
  const lua = keep(await startLuaGateway(directory, { upstreamUrl: upstream.url, redisPort }));
  const redis = createClient({ url: redisUrl });
  await redis.connect();
  await redis.set(`key:${key}`, 'account');
  redis.destroy();
  const target = (
    name: string,
    url: string,
    pids: readonly number[],
    headers: Target['headers'],
  ): Target => ({
    name,
    url: url + seriesPath,
    pids,
    headers,
  });
  const targets = [
    target('direct: the upstream', upstream.url, upstream.pids, () => ({})),
    target('direct: data-api', dataApi.said, [dataApi.pid], direct),
    target('almanac, Redis', ours.said, [ours.pid], keyed),
    target('almanac, no Redis', withoutRedis.said, [withoutRedis.pid], keyed),
    target('nginx + Lua', lua.url, lua.pids, keyed),
  ];
  const stock = process.env['BENCH_EXPRESS_GATEWAY'] ?? path.join(directory, 'express-gateway');
  if (existsSync(path.join(stock, 'node_modules')) || install(stock)) {
    const started = keep(await startStock(stock, { upstreamUrl: upstream.url, redisPort }));
    targets.push(
      target('stock express-gateway', started.url, started.pids, () => ({
        authorization: `apiKey ${started.key}`,
      })),
    );
  } else print('stock express-gateway could not be installed and is left out');
  return targets;
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

async function makeKey(databaseUrl: string, plansFile: string): Promise<string> {
  const db = connect(databaseUrl);
  const deps = { db, plans: loadPlans(plansFile), clock: systemClock };
  const account = await createAccount(deps, { email: 'bench@example.org', plan: 'free' });
  const { key } = await createKey(deps, account.id, 'bench');
  await db.close();
  return key;
}

function report(results: ReadonlyMap<Target, readonly Measured[]>): void {
  const rows = [...results].map(([{ name }, measured]) => ({
    name,
    rps: Math.max(...measured.map((m) => m.requestsPerSecond)),
    p50: Math.min(...measured.map((m) => m.p50Ms)),
    p99: Math.min(...measured.map((m) => m.p99Ms)),
    cpu: Math.min(...measured.map((m) => m.cpuUsPerRequest)),
  }));
  print(
    `${'best of the rounds'.padEnd(24)}${'req/s'.padStart(9)}${'p50 ms'.padStart(9)}${'p99 ms'.padStart(9)}${'CPU µs'.padStart(9)}`,
  );
  for (const { name, rps, p50, p99, cpu } of rows) {
    print(
      `${name.padEnd(24)}${rps.toFixed(0).padStart(9)}${p50.toFixed(2).padStart(9)}${p99.toFixed(2).padStart(9)}${cpu.toFixed(1).padStart(9)}`,
    );
  }
  const of = (name: string) => rows.find((row) => row.name === name);
  const ours = of('almanac, Redis');
  for (const rival of [of('nginx + Lua'), of('stock express-gateway')]) {
    if (ours === undefined || rival === undefined) continue;
    const [speed, cpu] = [ours.rps / rival.rps, rival.cpu / ours.cpu];
    print(`almanac, Redis against ${rival.name}: ${speed.toFixed(2)}× req/s, ${cpu.toFixed(2)}× by CPU`);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
