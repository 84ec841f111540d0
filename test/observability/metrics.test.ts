import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { projectRoot } from '../../kernel/project.ts';
import { anonymous, createSealer, identityHeader } from '../../kernel/identity.ts';
import { createTestDatabase, silentLog, testIdentitySecret } from '../services/harness.ts';
import { freePort } from '../services/instance.ts';
import { startRedis, type PrivateRedis } from '../services/redis.ts';
import { startServing } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { exempt } from '../openapi/check-answers.ts';
import { openDatabase } from '../../kernel/database.ts';
import { serverMetrics } from '../../kernel/metrics/database.ts';
import { serveMetrics } from '../../kernel/http/metrics-server.ts';
import { startProxy } from '../services/proxy.ts';
import type { Services } from '../services/services.ts';
import { scrape, startAll } from './all-metrics.ts';

let redis: PrivateRedis;
let services: Services;
test.before(async () => {
  redis = await startRedis('--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru');
  services = await startAll(redis.url);
});
test.after.always(async () => {
  await services?.close();
  await redis?.stop();
});

const inData = 'service="data-api",method="GET",route="/v1/series/:id"';

test.serial(
  'a service counts its calls by the pattern of the route, its stages and its failures',
  async (t) => {
    await services.ingest('series_id,date,value\nSECRET.ONE,2024-01-31,1\n');
    const { key, accountId } = await services.accountWithKey();
    const get = async (at: string) => (await services.call(at, { key })).status;
    t.is(await get('/v1/series/SECRET.ONE'), 200);
    t.is(await get('/v1/series/SECRET.TWO'), 404);
    t.is(await get('/v1/account'), 200);
    await until('it is ready', async () => (await fetch(`${services.dataApiUrl}/readyz`)).status === 200);
    exempt(services.dataApiUrl); // not a client's address
    t.is((await fetch(`${services.dataApiUrl}/v1/catalog`)).status, 401);
    const account = 'service="accounts-api",method="GET",route="/v1/account",status="2xx"';
    let { samples, text } = await scrape(services.metricsUrl);
    // A call is counted after its answer has reached the client; gateways ask data-api for the newest load all the time.
    await until('all calls are counted, and none is under way', async () => {
      ({ samples, text } = await scrape(services.metricsUrl));
      return (
        samples.get(`almanac_service_requests_total{${inData},status="4xx"}`) === 1 &&
        samples.get(`almanac_service_requests_total{${account}}`) === 1 &&
        samples.get('almanac_service_identities_refused_total{service="data-api"}') === 1 &&
        samples.get('almanac_service_requests_under_way{service="data-api"}') === 0
      );
    });
    t.is(samples.get(`almanac_service_requests_total{${inData},status="2xx"}`), 1);
    t.is(samples.get(`almanac_service_requests_total{${inData},status="5xx"}`), 0, 'so that the first shows');
    t.is(samples.get(`almanac_service_request_duration_seconds_count{${inData}}`), 2);
    t.is(samples.get('almanac_service_failures_total{service="data-api",code="not_found"}'), 1);
    t.is(samples.get('almanac_service_failures_total{service="data-api",code="unauthorized"}'), 1);
    t.is(samples.get('almanac_service_identities_refused_total{service="accounts-api"}'), 0);
    t.true(
      (samples.get('almanac_service_stage_duration_seconds_count{service="data-api",stage="sql"}') ?? 0) > 0,
    );
    t.true(
      (samples.get('almanac_service_stage_duration_seconds_sum{service="data-api",stage="sql"}') ?? 0) > 0,
    );
    t.false(text.includes('readyz'), 'probes are not counted');
    for (const secret of [key, accountId, 'SECRET.']) t.false(text.includes(secret), secret);
  },
);

test.serial('pools, the database, jobs, quota, loads, Redis and disks have their figures', async (t) => {
  const { samples } = await scrape(services.metricsUrl);
  const value = (name: string) => samples.get(`almanac_${name}`);
  for (const pool of ['data-api', 'data-api long reads', 'accounts-api', 'worker']) {
    t.true((value(`database_connections_max{pool="${pool}"}`) ?? 0) > 0, pool);
    t.is(value(`database_waiting{pool="${pool}"}`), 0, pool);
    t.is(value(`database_statements_slow_total{pool="${pool}"}`), 0, pool);
  }
  for (const pool of ['data-api', 'accounts-api', 'worker']) {
    t.true((value(`database_statement_duration_seconds_count{pool="${pool}"}`) ?? 0) > 0, pool);
    t.true((value(`database_connections{pool="${pool}",state="idle"}`) ?? 0) > 0, pool);
    t.is(value(`database_up{service="${pool}",server="primary"}`), 1, pool);
    const offset = value(`database_clock_offset_seconds{service="${pool}",server="primary"}`);
    t.true(Math.abs(offset ?? Number.NaN) < 1, `the clock of this machine: ${offset}`);
    t.is(value(`database_replica_lag_seconds{service="${pool}",server="primary"}`), undefined);
  }
  t.is(value('jobs{queue="mail",state="failed"}'), 0);
  t.is(value('jobs_overdue_seconds{queue="mail"}'), 0);
  t.true((value('quota_blocks') ?? Number.NaN) >= 0);
  t.true((value('quota_calls_out') ?? Number.NaN) >= 0);
  t.is(value('ingest_loads_total{dataset="observations"}'), 1);
  t.true((value('ingest_newest_load{dataset="observations"}') ?? 0) >= 1);
  t.true((value('ingest_newest_load_age_seconds{dataset="observations"}') ?? Number.NaN) < 600);
  t.is(value('service_redis_up{service="accounts-api"}'), 1);
  t.is(value('redis_noeviction'), 0);
  t.is(value('redis_memory_max_bytes'), 50 * 2 ** 20);
  t.true((value('redis_memory_bytes') ?? 0) > 0);
  t.is(value('redis_evicted_keys_total'), 0);
  t.true((value('disk_free_bytes{directory="journal"}') ?? 0) > 0);
  t.is(value('disk_free_bytes{directory="database"}'), undefined, 'it does not exist');
});

test.serial('an e-mail with a later send time is counted', async (t) => {
  const boss = new PgBoss({ connectionString: services.databaseUrl, schema: 'jobs', createSchema: false });
  await boss.start();
  t.teardown(() => boss.stop({ graceful: false }));
  await boss.sendAfter('mail', {}, null, 3_600);
  await until('it is counted', async () => {
    const { samples } = await scrape(services.metricsUrl);
    t.is(samples.get('almanac_jobs_overdue_seconds{queue="mail"}'), 0);
    return samples.get('almanac_jobs{queue="mail",state="later"}') === 1;
  });
});

test.serial('a statement that waits for a lock is seen, and since when', async (t) => {
  const holder = new pg.Client({ connectionString: services.databaseUrl });
  const waiter = new pg.Client({ connectionString: services.databaseUrl });
  await Promise.all([holder.connect(), waiter.connect()]);
  t.teardown(() => Promise.all([holder.end(), waiter.end()]));
  const database = openDatabase(services.databaseUrl, silentLog, { applicationName: 'almanac tests' });
  t.teardown(() => database.close());
  const server = { service: 'tests', server: 'primary' };
  const served = await serveMetrics(
    serverMetrics(server, (text) => database.query(text), silentLog),
    { host: '127.0.0.1', port: 0 },
  );
  t.teardown(() => served.close());
  exempt(served.url);
  await holder.query('begin');
  await holder.query('lock table data.loads');
  const waiting = waiter.query('select count(*) from data.loads');
  const at = (name: string, samples: Map<string, number>) =>
    samples.get(`almanac_database_${name}{service="tests",server="primary"}`) ?? 0;
  let samples = new Map<string, number>();
  await until('it waits', async () => {
    ({ samples } = await scrape(served.url));
    return at('waiting_for_locks', samples) === 1;
  });
  t.true(at('longest_transaction_seconds', samples) >= at('longest_statement_seconds', samples));
  t.true(at('longest_statement_seconds', samples) > 0);
  await holder.query('commit');
  await waiting;
});

test('while the database does not answer, /metrics reports that and shows no old figures', async (t) => {
  const own = await createTestDatabase();
  const direct = new URL(own.url);
  const way = await startProxy(Number(direct.port));
  direct.hostname = '127.0.0.1';
  direct.port = String(way.port);
  const database = openDatabase(direct.href, silentLog, { applicationName: 'almanac tests' });
  const server = { service: 'tests', server: 'primary' };
  const metrics = serverMetrics(server, (text) => database.query(text), silentLog);
  const served = await serveMetrics(metrics, { host: '127.0.0.1', port: 0 });
  exempt(served.url);
  t.teardown(async () => {
    way.restore();
    await served.close();
    await database.close();
    await way.close();
    await own.drop();
  });
  const up = 'almanac_database_up{service="tests",server="primary"}';
  const offset = 'almanac_database_clock_offset_seconds{service="tests",server="primary"}';
  const before = await scrape(served.url);
  t.is(before.samples.get(up), 1);
  t.true(before.samples.has(offset));
  way.pauseReplies();
  const during = await scrape(served.url);
  t.is(during.samples.get(up), 0);
  t.false(during.samples.has(offset));
  t.true((during.samples.get('process_uptime_seconds') ?? 0) > 0);
  way.restore();
  await until('it is seen again', async () => (await scrape(served.url)).samples.get(up) === 1);
});

test('docs/operations.md lists every metric and no other', async (t) => {
  const { families } = await scrape(services.metricsUrl);
  const served = new Set(families);
  t.is(served.size, families.length, 'metrics of several services are one family');
  const page = readFileSync(path.join(projectRoot, 'docs/operations.md'), 'utf8');
  const section = page.slice(page.indexOf('\n## Metrics'), page.indexOf('\n## Log'));
  const listed = [...section.matchAll(/`((?:almanac|nodejs|process)_\w+)`/g)].map(([, name = '']) => name);
  t.deepEqual(listed.toSorted(), [...served].toSorted());
});

test('each service that runs alone serves its own metrics, and one process those of all', async (t) => {
  const start = async (service: string[], ready: RegExp) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    exempt(url);
    const words = [path.join(projectRoot, 'almanac.js'), 'start', ...service];
    const child = await startServing(ready, process.execPath, words, {
      name: service[0] ?? 'almanac',
      env: {
        ...process.env,
        ...{ DASHBOARD: 'off', IDENTITY_SECRET: testIdentitySecret, DATABASE_URL: services.databaseUrl },
        ...{ PORT: '0', DATA_API_PORT: '0', ACCOUNTS_API_PORT: '0', METRICS_PORT: String(port) },
      },
    });
    t.teardown(() => child.end('SIGTERM'));
    return { ready: child.ready[1] ?? '', end: child.end, scrape: () => scrape(url) };
  };
  const dataApi = await start(['data-api'], /data-api is running: (\S+)/);
  exempt(dataApi.ready);
  const seal = createSealer(testIdentitySecret, 'data-api');
  await fetch(`${dataApi.ready}/v1/catalog`, {
    headers: { [identityHeader]: seal(anonymous, 'GET', '/v1/catalog') },
  });
  const catalog = 'service="data-api",method="GET",route="/v1/catalog",status="2xx"';
  let ofData = new Map<string, number>();
  await until('the call is counted', async () => {
    ofData = (await dataApi.scrape()).samples;
    return ofData.get(`almanac_service_requests_total{${catalog}}`) === 1;
  });
  t.false([...ofData.keys()].some((name) => name.includes('accounts-api') || name.includes('webhooks')));
  t.is(await dataApi.end('SIGTERM'), 0);

  const accountsApi = await start(['accounts-api'], /accounts-api is running: (\S+)/);
  const ofAccounts = (await accountsApi.scrape()).samples;
  t.is(ofAccounts.get('almanac_database_up{service="accounts-api",server="primary"}'), 1);
  t.is(await accountsApi.end('SIGTERM'), 0);

  const all = await start([], /API: (\S+)/);
  const { samples, families } = await all.scrape();
  for (const service of ['data-api', 'accounts-api', 'worker']) {
    t.is(samples.get(`almanac_database_up{service="${service}",server="primary"}`), 1, service);
  }
  t.true(samples.has('almanac_gateway_requests_under_way'));
  t.true(samples.has('almanac_webhooks_outbox'));
  t.is(new Set(families).size, families.length);
  t.is(await all.end('SIGTERM'), 0);
});
