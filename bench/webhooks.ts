// Measures how fast a worker sends webhooks while some receivers are dead, slow or hostile, and its memory. The worker is a separate process; the
// receivers are one HTTP server in this process, which shares the machine with it.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import path from 'node:path';
import { connect, type Deps } from '../accounts-api/database.ts';
import { newId } from '../accounts-api/ids.ts';
import { createAccount } from '../accounts-api/operator/operator.ts';
import { createSecrets } from '../accounts-api/secrets.ts';
import { systemClock } from '../kernel/clock.ts';
import { writeEvents, type NewEvent } from '../kernel/events/outbox.sql.ts';
import { loadPlans } from '../kernel/plans.ts';
import { projectRoot } from '../kernel/project.ts';
import { print } from './instruments/figures.ts';
import { backendCpuUs, startBenchPostgres, withClient } from './instruments/postgres.ts';

const secretKey = 'a secret of the bench, long enough';
/** 50 endpoints in total. */
const kinds = { healthy: 32, dead: 6, slow: 6, endless: 3, dripping: 3 } as const;
type Kind = keyof typeof kinds;
const slowMs = 10_000;
const giveUpAfterMs = 600_000;
/** Set it lower for a quick run. */
const loadCount = Number(process.env['BENCH_EVENTS'] ?? 10_000);

interface Endpoint {
  kind: Kind;
  accountId: string;
}

/** Measures 10,000 events of accounts, each to one endpoint, and 10,000 events about series, each to all 50; prints; removes everything it made. */
export async function run(): Promise<void> {
  const postgres = await startBenchPostgres();
  const receivers = await startReceivers();
  let worker: ChildProcess | undefined;
  let close = async () => {};
  try {
    const databaseUrl = await postgres.createDatabase('bench_webhooks');
    const db = connect(databaseUrl);
    close = () => db.close();
    const plans = loadPlans(path.join(projectRoot, 'config/plans.yml'));
    const deps = { db, plans, clock: systemClock };
    const endpoints = await makeEndpoints(deps, receivers.port);
    worker = startWorkerProcess(databaseUrl, postgres.directory);
    await once(worker.stdout as NodeJS.EventEmitter, 'data');
    const memory = watchMemory(worker.pid ?? 0);
    const own = Array.from({ length: 10_000 }, (_, i) =>
      ofAccount(endpoints[i % endpoints.length]?.accountId ?? '', i),
    );
    const parties = { deps, receivers, workerPid: worker.pid ?? 0, databaseUrl };
    await measure(parties, '10,000 events, each to one of 50 endpoints', own);
    const loads = Array.from({ length: loadCount }, (_, i) => ofSeries(i));
    await measure(parties, `${loadCount.toLocaleString('en')} events, each to all of 50 endpoints`, loads);
    const { first, most, last } = memory.stop();
    print(`memory of the worker: ${first} MiB at the start, ${most} at most, ${last} at the end`);
  } finally {
    worker?.kill('SIGKILL'); // a graceful stop would wait for the slow receivers
    await close();
    await receivers.close();
    await postgres.stop();
  }
}

interface Parties {
  deps: Deps;
  receivers: Receivers;
  workerPid: number;
  databaseUrl: string;
}

async function measure(parties: Parties, what: string, events: readonly NewEvent[]): Promise<void> {
  const { receivers } = parties;
  const { db } = parties.deps;
  const wanted = events.reduce(
    (sum, { accountId }) => sum + (accountId === null ? kinds.healthy : isHealthy(accountId)),
    0,
  );
  receivers.expect(wanted);
  const before = await cpuSeconds(parties);
  const startedAtMs = performance.now();
  await db.inLedgerTransaction((transaction) =>
    writeEvents((text, values) => db.sequelize.query(text, { bind: [...values], transaction }), events),
  );
  const writtenMs = performance.now() - startedAtMs;
  const doneMs = await receivers.done(giveUpAfterMs);
  const after = await cpuSeconds(parties);
  const seconds = (doneMs - startedAtMs) / 1000;
  const used = (['worker', 'postgres', 'receivers'] as const).map(
    (party) => `${party} ${(after[party] - before[party]).toFixed(1)} s`,
  );
  print(
    `${what}: the healthy ones have all ${wanted} after ${seconds.toFixed(1)} s (${Math.round(wanted / seconds)} a second), ` +
      `writing the events took ${writtenMs.toFixed(0)} ms; CPU: ${used.join(', ')}; load ${loadavg()[0]?.toFixed(1)}`,
  );
}

/** The CPU time used so far; for PostgreSQL, that of the existing backends. */
async function cpuSeconds({ workerPid, databaseUrl }: Parties) {
  const { user, system } = process.cpuUsage();
  return {
    worker: processCpuSeconds(workerPid),
    postgres: (await withClient(databaseUrl, backendCpuUs)) / 1e6,
    receivers: (user + system) / 1e6,
  };
}

/** User and system time of all threads of a process, in hundredths of a second; Linux only, otherwise NaN. */
function processCpuSeconds(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return Number.NaN;
  }
}

const healthy = new Set<string>();
const isHealthy = (accountId: string) => Number(healthy.has(accountId));

/** Creates an account for each endpoint. */
async function makeEndpoints(deps: Deps, port: number): Promise<Endpoint[]> {
  const secrets = createSecrets([secretKey]);
  const wanted = (Object.keys(kinds) as Kind[]).flatMap((kind) =>
    Array.from({ length: kinds[kind] }, () => kind),
  );
  const made: Endpoint[] = [];
  for (const [i, kind] of wanted.entries()) {
    const { id: accountId } = await createAccount(deps, { email: `bench-${i}@example.org`, plan: 'pro' });
    const id = newId('wh');
    await deps.db.webhooks.create({
      ...{ id, accountId, slot: 1, description: null, series: null, createdAt: new Date() },
      url: `http://127.0.0.1:${kind === 'dead' ? 1 : port}/${kind}`,
      events: ['key.revoked', 'series.updated'],
      secret: secrets.mint(id).sealed,
    });
    if (kind === 'healthy') healthy.add(accountId);
    made.push({ kind, accountId });
  }
  return made;
}

function ofAccount(accountId: string, i: number): NewEvent {
  const data = { key: `key_${'a'.repeat(20)}`, name: `key ${i}`, masked: 'pk_live_abcd…wxyz' };
  return { type: 'key.revoked', accountId, series: null, data, at: new Date() };
}

function ofSeries(i: number): NewEvent {
  const series = Array.from({ length: 50 }, (_, n) => `BENCH.${i}.${n}`);
  const data = { load: i, published_at: '2026-11-20T10:00:00Z', vintage: '2026-11-20' };
  return { type: 'series.updated', accountId: null, series, data, at: new Date() };
}

interface Receivers {
  port: number;
  /** Sets how many different messages the healthy endpoints should receive from now on. */
  expect(count: number): void;
  /** Resolves to the time when they have arrived. @throws Error after this many ms. */
  done(withinMs: number): Promise<number>;
  close(): Promise<void>;
}

async function startReceivers(): Promise<Receivers> {
  const seen = new Set<string>();
  let wanted = Infinity;
  let finished = Promise.withResolvers<number>();
  const treat: Record<Exclude<Kind, 'healthy' | 'dead'>, (response: ServerResponse) => void> = {
    slow: (response) => void setTimeout(() => response.writeHead(204).end(), slowMs),
    endless(response) {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('a'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    },
    dripping(response) {
      response.writeHead(200);
      const drip = setInterval(() => response.write('a'), 1_000);
      response.once('close', () => clearInterval(drip));
    },
  };
  const server: Server = createServer((request, response) => {
    request.resume();
    const kind = request.url?.slice(1) as Kind;
    if (kind !== 'healthy') {
      if (kind !== 'dead') treat[kind](response);
      return;
    }
    response.writeHead(204).end();
    seen.add(String(request.headers['webhook-id']));
    if (seen.size >= wanted) finished.resolve(performance.now());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    expect(count) {
      seen.clear();
      wanted = count;
      finished = Promise.withResolvers();
    },
    async done(withinMs) {
      const late = setTimeout(
        () =>
          finished.reject(new Error(`Of ${wanted} messages ${seen.size} came within ${withinMs / 1000} s.`)),
        withinMs,
      );
      try {
        return await finished.promise;
      } finally {
        clearTimeout(late);
      }
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Resident memory of a process in MiB, sampled once a second; Linux only, otherwise NaN. */
function watchMemory(pid: number): { stop(): { first: number; most: number; last: number } } {
  const values: number[] = [];
  const look = () => {
    try {
      const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
      values.push(Math.round((pages * 4096) / 2 ** 20));
    } catch {
      values.push(Number.NaN);
    }
  };
  look();
  const timer = setInterval(look, 1_000);
  return {
    stop() {
      clearInterval(timer);
      look();
      return { first: values[0] ?? 0, most: Math.max(...values), last: values.at(-1) ?? 0 };
    },
  };
}

function startWorkerProcess(databaseUrl: string, directory: string): ChildProcess {
  return spawn(process.execPath, [path.join(projectRoot, 'almanac.ts'), 'start', 'worker'], {
    env: {
      ...process.env,
      NODE_OPTIONS: '--max-semi-space-size=2 --max-old-space-size=160', // as in k8s/base/worker.yaml
      DATABASE_URL: databaseUrl,
      DATA_DIR: directory,
      REDIS_URL: '',
      IDENTITY_SECRET: secretKey,
      WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      WEBHOOK_ALLOW_HTTP: 'true',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
