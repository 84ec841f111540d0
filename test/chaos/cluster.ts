// Sets up the cluster of the chaos run: units, data, accounts and keys, and the expected answers.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createAccount, createKey } from '../../accounts-api/operator/operator.ts';
import { connect, type Deps } from '../../accounts-api/database.ts';
import { fileOf } from '../ingest/loading.ts';
import { load } from '../../ingest/load/load.ts';
import { systemClock } from '../../kernel/clock.ts';
import { openDatabase } from '../../kernel/database.ts';
import { loadPlans } from '../../kernel/plans.ts';
import { openServiceRoles, serviceUrl } from '../../migrations/roles.ts';
import { migrate } from '../../migrations/run.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { startPostgresUnit, startReplicaUnit, type PostgresUnit } from '../services/postgres.ts';
import type { Caller, Question } from './calls.ts';
import type { Cluster } from './faults.ts';
import { ServiceLinks } from './links.ts';
import type { Victim } from './load.ts';
import { tick } from './publisher.ts';
import { startRedisOf, type RedisKind } from './redis-units.ts';
import { moveDatabaseClock } from './trials/database-clock.ts';
import { makeService, type Service, type ServiceName, type Unit } from './units.ts';

export interface Scene {
  cluster: Cluster;
  databaseUrl: string;
  /** Fetches the right answers before anybody else calls. */
  scout: Caller;
  readers: Caller[];
  /** They read the series that is loaded again and again. */
  watchers: Caller[];
  /** Accounts with `smallLimit` calls a month. */
  small: Caller[];
  victims: Victim[];
  /** Has a webhook endpoint. */
  customer: Caller;
  /** Accounts of the plan `free`, which may change. */
  tenants: Caller[];
  plansFile: string;
  /** How far its clocks are ahead of the machine's. */
  clockAheadMs: number;
}

/** Calls a month of the accounts that are driven over their limit. */
export const smallLimit = 150;

/** Calls a month of the plans between which accounts change. */
export const tenantLimits = { free: smallLimit, middle: 400, large: 1_000 };

const tenantCount = 6;

const plans = `plans:
  - { id: free, name: Free, price_usd_month: 0, calls_month: ${smallLimit}, calls_second: 1000000, concurrency: 100000, features: [] }
  - { id: middle, name: Middle, price_usd_month: 0, calls_month: ${tenantLimits.middle}, calls_second: 1000000, concurrency: 100000, features: [] }
  - { id: large, name: Large, price_usd_month: 0, calls_month: ${tenantLimits.large}, calls_second: 1000000, concurrency: 100000, features: [] }
  - { id: big, name: Big, price_usd_month: 0, calls_month: 10000000, calls_second: 1000000, concurrency: 100000, features: [webhooks] }
`;

export interface SceneOptions {
  directory: string;
  gateways: number;
  dataApis: number;
  redis: RedisKind;
  /** Whether every data-api reads from a streaming replica of PostgreSQL. */
  hasReplica: boolean;
  seconds: number;
  /** Of every service. */
  drainDelayMs: number;
  logDirectory: string | null;
  /** How far the clocks of PostgreSQL and of every service are ahead of the machine's, in ms; 0 by default. */
  clockAheadMs?: number | undefined;
  /** Whether every way between services, PostgreSQL and one Redis can go silent: all connections are passed on by the run itself. */
  hasLinks?: boolean;
  /** More settings, of every service. */
  env?: Record<string, string>;
  /** Nothing is started any more. */
  over: AbortSignal;
}

/** Ends units in any state, the last first. */
export async function endAll(units: readonly Unit[]): Promise<void> {
  for (const unit of units.toReversed()) {
    unit.goOn();
    await unit.kill();
  }
}

/** @param units is given each unit as soon as it runs; the caller ends them. */
export async function setUp(options: SceneOptions, units: Unit[]): Promise<Scene> {
  const { directory, seconds, over } = options;
  mkdirSync(directory, { recursive: true });
  const plansFile = path.join(directory, 'plans.yml');
  writeFileSync(plansFile, plans);
  const track = <T extends Unit>(unit: T): T => {
    units.push(unit);
    return unit;
  };
  const postgres = track(await startPostgresUnit(path.join(directory, 'postgres'), over));
  const redis = await startRedisOf(options.redis, track, over);
  if (options.clockAheadMs !== undefined) await moveDatabaseClock(postgres.url, options.clockAheadMs);
  await migrate(postgres.url);
  await openServiceRoles(postgres.url, true);
  const replica = options.hasReplica
    ? track(await startReplicaUnit(postgres, path.join(directory, 'replica'), over))
    : undefined;
  await loadSeries(postgres.url);
  const people = await makeAccounts(
    { db: connect(postgres.url), plans: loadPlans(plansFile), clock: systemClock },
    seconds,
  );
  const env = {
    IDENTITY_SECRET: testIdentitySecret,
    PLANS_FILE: plansFile,
    PUBLIC_CALLS_SECOND: '100000', // all clients have one IP address,
    MANAGEMENT_CALLS_SECOND: '100000', // all clients have one IP address, and revoked keys are among their calls
    DATA_DIR: path.join(directory, 'data'),
    QUOTA_OUTAGE: 'closed', // other values serve beyond the limit while accounts-api is away
    DRAIN_DELAY_MS: String(options.drainDelayMs),
    WEBHOOK_ALLOW_HTTP: 'true', // the customer's endpoint is in the run itself
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: options.logDirectory === null ? 'silent' : 'info',
    ...options.env,
  };
  const serviceLinks = new Map<Unit, ServiceLinks>();
  const start = (
    service: ServiceName,
    count: number,
    more: (own: ServiceLinks) => Promise<Record<string, string>>,
  ): Promise<Service[]> =>
    Promise.all(
      Array.from({ length: count }, async (_, i) => {
        const own = new ServiceLinks(options.hasLinks === true);
        // The servers of a set announce their own addresses.
        const toRedis =
          options.redis === 'one' ? (url: string) => own.to(url) : (url: string) => Promise.resolve(url);
        const asks = { ...(redis && { REDIS_URL: await toRedis(redis.url) }), ...(await more(own)) };
        const unit = track(await makeService(service, i + 1, { ...env, ...asks }, options));
        serviceLinks.set(unit, own);
        await unit.start();
        return unit;
      }),
    );
  const accounts = async (own: ServiceLinks) => ({
    DATABASE_URL: await own.to(serviceUrl(postgres.url, 'almanac_accounts_api')),
  });
  const [dataApis, accountsApis, workers] = await Promise.all([
    start('data-api', options.dataApis, (own) => dataDatabases(own, postgres, replica)),
    start('accounts-api', 2, accounts),
    start('worker', 2, accounts),
  ]);
  const gateways = await start('gateway', options.gateways, async (own) => ({
    DATA_API_URL: (await Promise.all(dataApis.map(({ url }) => own.toData(url)))).join(),
    ACCOUNTS_API_URL: (await Promise.all(accountsApis.map(({ url }) => own.to(url)))).join(),
  }));
  const cluster = { gateways, dataApis, serviceLinks, accountsApis, workers, postgres, replica, redis };
  const { clockAheadMs = 0 } = options;
  return { cluster, databaseUrl: postgres.url, plansFile, clockAheadMs, ...people };
}

/** The replica is never read alone, so answers are judged even if it lags when the primary is killed. */
async function dataDatabases(
  own: ServiceLinks,
  postgres: PostgresUnit,
  replica: PostgresUnit | undefined,
): Promise<Record<string, string>> {
  const urlOf = ({ url }: PostgresUnit) => own.to(serviceUrl(url, 'almanac_data_api'));
  const read = replica && { DATABASE_READ_URL: await urlOf(replica), REPLICA_LAG_MAX_MS: '0' };
  return { DATABASE_URL: await urlOf(postgres), ...read };
}

/** A short series, one whose answer needs many writes, and one that is loaded again and again, long enough to be compressed. */
async function loadSeries(databaseUrl: string): Promise<void> {
  const day = (i: number) => new Date(Date.UTC(1960, 0, 1 + i)).toISOString().slice(0, 10);
  const rows = (id: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${id},${day(i)},${(i * 7919) % 100_003}.25\n`).join('');
  const database = openDatabase(databaseUrl, silentLog, { applicationName: 'chaos' });
  await load(database, {
    dataset: 'observations',
    input: fileOf([
      `series_id,date,value\n${rows('SHORT', 300)}${rows('LONG', 20_000)}${rows(tick.id, 60)}${tick.id},${tick.date},${tick.value}\n`,
    ]),
    create: true,
    set: { unit: 'Index', frequency: 'daily', source: 'Chaos' },
    seriesTimeZone: 'UTC',
    clock: systemClock,
  });
  await database.close();
}

async function makeAccounts(
  deps: Deps,
  seconds: number,
): Promise<Pick<Scene, 'scout' | 'readers' | 'watchers' | 'small' | 'victims' | 'customer' | 'tenants'>> {
  let made = 0;
  async function account(plan: string, keys: number): Promise<(Caller & { keyId: string })[]> {
    const { id: accountId } = await createAccount(deps, { email: `chaos-${(made += 1)}@example.org`, plan });
    const callers = [];
    for (let i = 0; i < keys; i += 1) {
      const { id: keyId, key } = await createKey(deps, accountId, `key ${i}`);
      callers.push({ accountId, key, keyId });
    }
    return callers;
  }
  const readers = (await Promise.all([account('big', 2), account('big', 2), account('big', 1)])).flat();
  const watchers = (await Promise.all([account('big', 1), account('big', 1)])).flat();
  const [scout] = await account('big', 1);
  const [customer] = await account('big', 1);
  if (scout === undefined || customer === undefined) throw new Error('There is no scout, or no customer.');
  const small: Caller[] = [];
  for (let i = 0; i < seconds * 2; i += 1) small.push(...(await account('free', 1)));
  const tenants = (await Promise.all(Array.from({ length: tenantCount }, () => account('free', 1)))).flat();
  const victims: Victim[] = [];
  for (let i = 0; i < seconds * 4; i += 1) {
    const [manager, ...others] = await account('big', 3);
    if (manager !== undefined) victims.push(...others.map((victim) => ({ ...victim, manager })));
  }
  await deps.db.close();
  return { scout, readers, watchers, small, victims, customer, tenants };
}

/** Everything the readers ask, with the answers as they are while all is well. */
export async function questionsOf(
  cluster: Cluster,
  { key }: Caller,
): Promise<{ plain: Question; long: Question; all: Question[] }> {
  const url = cluster.gateways[0]?.url ?? '';
  async function asItIs(target: string, calls: number): Promise<Question & { etag: string }> {
    const response = await fetch(url + target, {
      headers: { 'x-api-key': key, 'accept-encoding': 'identity' },
    });
    const body = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200)
      throw new Error(`${target} is answered ${response.status}: ${body.toString()}`);
    return { path: target, status: 200, body, calls, etag: response.headers.get('etag') ?? '' };
  }
  const plain = await asItIs('/v1/series/SHORT', 1);
  const long = await asItIs('/v1/series/LONG?format=csv', 1);
  const list = await asItIs('/v1/series?ids=SHORT,LONG&limit=5', 2);
  const unchanged = { path: plain.path, status: 304, headers: { 'if-none-match': plain.etag }, calls: 1 };
  const unknown = { path: '/v1/series/NOWHERE', status: 404, calls: 1 };
  const wrong = { path: '/v1/series/SHORT?limit=none', status: 400, calls: 1 };
  const tool = await toolCall(url, key);
  return { plain, long, all: [plain, plain, plain, long, list, unchanged, unknown, wrong, tool] };
}

/** A call of a tool at /mcp: a service in trouble makes it a result that reports a failure, which is not charged. */
async function toolCall(url: string, key: string): Promise<Question> {
  const sent = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'latest', arguments: { ids: ['SHORT'] } },
  });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const question = { path: '/mcp', method: 'POST', sent, headers, status: 200, calls: 1 } as const;
  const response = await fetch(url + question.path, {
    ...{ method: question.method, body: sent, headers: { ...headers, 'x-api-key': key } },
  });
  const right = Buffer.from(await response.arrayBuffer());
  const isFailure = (body: Buffer) => body.includes('"isError":true');
  if (response.status !== 200 || isFailure(right))
    throw new Error(`The tool is answered ${response.status}: ${right.toString()}`);
  const isOutageError = (body: Buffer) =>
    ['upstream_error', 'unavailable', 'upstream_timeout'].some((code) => body.includes(code));
  // Each gateway cites its own address.
  const shown = (body: Buffer) => body.toString().replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, '');
  return {
    ...question,
    isFailure,
    judge: ({ body }) =>
      shown(body) === shown(right) || (isFailure(body) && isOutageError(body))
        ? null
        : `it is answered ${shown(body).slice(0, 300)}`,
  };
}
