// The environment of the measured gateways: PostgreSQL with one series and the keys, Redis, accounts-api, data-api, and a bare upstream that answers
// with the same bytes as data-api. Starts, fills, stops and removes all of it.
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { createClient } from 'redis';
import { startEmbeddedPostgres } from '../../embedded/postgres.ts';
import { load as ingest } from '../../ingest/load/load.ts';
import { systemClock } from '../../kernel/clock.ts';
import { openDatabase } from '../../kernel/database.ts';
import { anonymous, createSealer, identityHeader } from '../../kernel/identity.ts';
import { createLog } from '../../kernel/log/log.ts';
import { projectRoot } from '../../kernel/project.ts';
import { migrate } from '../../migrations/run.ts';
import { freePort } from '../../test/services/instance.ts';
import { makeAccounts } from './accounts.ts';
import { startUpstream, type NginxServer } from './nginx.ts';
import { otherCore, redisCore, startOn, targetCore, type Program } from './processes.ts';

export const seriesPath = '/v1/series/BENCH';
export const accountCount = 100;
const newAccountCount = 150_000;
export const identitySecret = 'a secret of the bench, long enough';
const seal = createSealer(identitySecret, 'data-api');

/** The started programs, and the directory of their files. */
export class Run {
  /** The directory of all files of the run, which is removed with it. */
  readonly directory = mkdtempSync(path.join(tmpdir(), 'almanac-bench-'));
  readonly #stops: (() => Promise<void>)[] = [];

  constructor() {
    chmodSync(this.directory, 0o755); // the users of PostgreSQL and nginx need access when root runs the bench
  }

  track<Started extends { stop(): Promise<void> }>(started: Started): Started {
    this.#stops.push(() => started.stop());
    return started;
  }

  /** Starts a Node program that prints where it listens. */
  async startNode(
    core: string,
    words: readonly string[],
    env: Record<string, string> = {},
  ): Promise<Program> {
    const where = { core, outputFile: path.join(this.directory, `output-${this.#stops.length}`), env };
    return this.track(await startOn(where, [process.execPath, ...words], /is running: (http:\S+)/));
  }

  /** @param flags for Node. */
  startService(
    core: string,
    service: string,
    env: Record<string, string>,
    flags: readonly string[] = [],
  ): Promise<Program> {
    return this.startProgram(core, path.join(projectRoot, 'almanac.js'), service, env, flags);
  }

  /** @param program the command line, of this version or another one. */
  startProgram(
    core: string,
    program: string,
    service: string,
    env: Record<string, string>,
    flags: readonly string[] = [],
  ): Promise<Program> {
    const words = [...flags, program, 'start', service];
    const journals = path.join(this.directory, `journal-${this.#stops.length}`);
    const own = { HOST: '127.0.0.1', DASHBOARD: 'off', JOURNAL_DIR: journals };
    return this.startNode(core, words, { ...own, ...env });
  }

  /** Stops the programs, the last started first. */
  async stop(): Promise<void> {
    for (const each of this.#stops.splice(0).toReversed()) await each();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export interface Ground {
  databaseUrl: string;
  dataApi: Program;
  accountsApi: Program;
  /** The bare upstream. */
  upstream: NginxServer;
  redis: Program;
  redisPort: number;
  redisUrl: string;
  /** The process id of the server. */
  postgres: number;
  /** The environment of all services. */
  env: Record<string, string>;
  /** One key of each account. */
  keys: readonly string[];
  /** The keys of accounts that call only a few times each. */
  newKeys: readonly string[];
  /** The length of the answer. */
  bytes: number;
}

/** data-api shares the core of the targets, so that this core serves the whole call except the stores. */
export async function layGround(run: Run): Promise<Ground> {
  const { directory } = run;
  const postgres = run.track(await startEmbeddedPostgres(path.join(directory, 'data')));
  const DATABASE_URL = postgres.url;
  await migrate(DATABASE_URL);
  await loadSeries(DATABASE_URL);
  const redisPort = await freePort();
  const redisUrl = `redis://127.0.0.1:${redisPort}`;
  const redisArgs = ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--dir', directory];
  const redisOutput = { core: redisCore, outputFile: path.join(directory, 'redis-output') };
  const redisReady = /(Ready to accept connections)/;
  const redis = run.track(await startOn(redisOutput, ['redis-server', ...redisArgs], redisReady));
  const plansFile = path.join(directory, 'plans.yml');
  writeFileSync(
    plansFile,
    `plans:\n  - { id: free, name: Free, price_usd_month: 0, calls_month: 1000000000, calls_second: 1000000, concurrency: 100000, features: [] }\n`,
  );
  const env = { IDENTITY_SECRET: identitySecret, PLANS_FILE: plansFile };
  const dataApi = await run.startService(targetCore, 'data-api', {
    ...env,
    DATABASE_URL,
    DATA_API_PORT: '0',
  });
  const accountsEnv = { ...env, DATABASE_URL, REDIS_URL: redisUrl, ACCOUNTS_API_PORT: '0' };
  const accountsApi = await run.startService(otherCore, 'accounts-api', accountsEnv);
  const body = await (await fetch(dataApi.readyOutput + seriesPath, { headers: sealed() })).text();
  const upstream = run.track(await startUpstream(directory, body));
  const keys = await makeAccounts(DATABASE_URL, plansFile, accountCount + newAccountCount);
  await copyKeys(redisUrl, keys.slice(0, accountCount));
  const [pid] = readFileSync(path.join(postgres.directory, 'postmaster.pid'), 'utf8').split('\n');
  return {
    databaseUrl: DATABASE_URL,
    ...{ dataApi, accountsApi, upstream, redis, redisPort, redisUrl, postgres: Number(pid), env },
    keys: keys.slice(0, accountCount),
    newKeys: keys.slice(accountCount),
    bytes: body.length,
  };
}

/** The headers that data-api requires from a caller of the path with its query; valid for a minute. */
export function sealed(target = seriesPath): Record<string, string> {
  return { [identityHeader]: seal(anonymous, 'GET', target) };
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
    noGateway: true,
    seriesTimeZone: 'UTC',
    clock: systemClock,
  });
  await database.close();
}

/** Copies the keys to where nginx and Lua look them up. */
async function copyKeys(redisUrl: string, keys: readonly string[]): Promise<void> {
  const redis = createClient({ url: redisUrl });
  await redis.connect();
  for (const [i, key] of keys.entries()) await redis.set(`key:${key}`, `account-${i}`);
  redis.destroy();
}
