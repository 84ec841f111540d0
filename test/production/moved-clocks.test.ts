// The clock of one service is wrong, by minutes and by days, fast and slow; PostgreSQL's is right. Decisions based on instants that several
// machines write and compare stay right. A gateway and a service whose clocks differ fail with that cause and blame no client.
import { createHash, randomUUID } from 'node:crypto';
import test from 'ava';
import { acceptUnderEmbargo } from '../../ingest/publisher/releases/accept.ts';
import { findRelease } from '../../ingest/publisher/releases/release-actions.ts';
import type { HeartbeatAnswer } from '../../kernel/heartbeat/message.ts';
import { newId } from '../../accounts-api/ids.ts';
import { systemClock, utcMonth } from '../../kernel/clock.ts';
import { openDatabase } from '../../kernel/database.ts';
import { mintSessionToken } from '../../kernel/credentials/session-token.ts';
import { serviceUrl, type ServiceRole } from '../../migrations/roles.ts';
import { exempt } from '../openapi/check-answers.ts';
import { daily, fileOf } from '../ingest/loading.ts';
import { endChildren } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { accountsOf } from '../services/accounts-service.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { projectPlans } from '../services/services.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { callAs, startMoved, type MovedService } from './moved-service.ts';

exempt(); // calls go around the gateway

const minutesMs = 120_000;
const daysMs = 4 * 24 * 60 * 60_000;
const hourMs = 60 * 60_000;
const offsetsMs = [minutesMs, -minutesMs, daysMs, -daysMs];

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, {
  applicationName: 'test',
  statementTimeoutMs: 0,
});
const accounts = accountsOf(testDatabase.url, projectPlans(), systemClock);
test.after.always(async () => {
  await endChildren();
  await accounts.deps.db.close();
  await database.close();
  await testDatabase.drop();
});

const asRole = (role: ServiceRole) => ({ DATABASE_URL: serviceUrl(testDatabase.url, role) });
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const month = utcMonth(systemClock.now());

/** A life with ten calls of the account, whose lease ended this long ago. */
async function lifeSilentFor(accountId: string, agoMs: number): Promise<string> {
  const life = randomUUID();
  await database.query(
    `with life as (
       insert into accounts.gateways (life, seen, leased_until) values ($3, 0, clock_timestamp() - $4 * interval '1 ms')
     ), month as (
       insert into accounts.quota_months as quota (account_id, month, out) values ($1, $2, 10)
       on conflict (account_id, month) do update set out = quota.out + 10
     )
     insert into accounts.quota_blocks (account_id, month, life, granted) values ($1, $2, $3, 10)`,
    [accountId, month, life, agoMs],
  );
  return life;
}

async function isClosed(life: string): Promise<boolean> {
  return (await database.query('select from accounts.gateways where life = $1', [life])).length === 0;
}

/** A session of the account that ends in this many ms. @returns the name by which a gateway looks it up. */
async function sessionFor(accountId: string, endsInMs: number): Promise<string> {
  const { id, secretHash } = mintSessionToken();
  await database.query(
    `insert into accounts.sessions (id, account_id, secret_hash, created_at, last_seen_at, idle_expires_at, absolute_expires_at,
       auth_time, two_factors, ip, user_agent)
     select $1, $2, $3, at, at, at + interval '1 day' + $4 * interval '1 ms', at + interval '1 day' + $4 * interval '1 ms', at, false, '', ''
     from (select clock_timestamp() - interval '1 day' as at) as made`,
    [id, accountId, secretHash, endsInMs],
  );
  return `${id}.${secretHash}`;
}

async function expireKey(keyId: string, inMs: number): Promise<void> {
  await database.query(
    `update accounts.api_keys set created_at = clock_timestamp() - interval '2 days', expires_at = clock_timestamp() + $2 * interval '1 ms'
     where id = $1`,
    [keyId, inMs],
  );
}

/** Accounts with one key that ends in this many ms. */
async function keyFor(endsInMs: number): Promise<string> {
  const client = await accounts.newClient('pro');
  await expireKey(client.keyId, endsInMs);
  return client.key;
}

async function eachOffset(service: MovedService, check: (aheadMs: number) => Promise<void>): Promise<void> {
  for (const aheadMs of offsetsMs) {
    service.moveClock(aheadMs);
    await check(aheadMs);
  }
}

test('accounts-api with a wrong clock closes no life that is in use, and judges keys and sessions correctly', async (t) => {
  const service = await startMoved('accounts-api', asRole('almanac_accounts_api'));
  const { accountId } = await accounts.newClient('pro');
  const sessions = [await sessionFor(accountId, hourMs), await sessionFor(accountId, -1_000)];
  const keys = [sha256(await keyFor(hourMs)), sha256(await keyFor(-1_000))];
  await eachOffset(service, async (aheadMs) => {
    const inUse = await lifeSilentFor(accountId, 60_000);
    const lost = await lifeSilentFor(accountId, 130_000);
    await until('a lost life is closed', () => isClosed(lost));
    t.false(await isClosed(inUse), `in use, ${aheadMs} ms`);
    const ask = (target: string, body: unknown) =>
      callAs('accounts-api', service.url, { aheadMs, identity: { scope: 'internal' }, target, body });
    const life = randomUUID();
    const { body: beat } = await ask('/internal/heartbeat', {
      ...{ life, begins: true, seen: 0, wait_ms: 0, ended: [], batch: null, keys, month },
      wants: [{ account_id: accountId, month, has: 0, calls: 5, ahead: 0 }],
    });
    const { credentials, grants } = beat as HeartbeatAnswer;
    const { body: found } = await ask('/internal/sessions', { sessions });
    t.deepEqual(
      [...credentials, ...(found as { sessions: unknown[] }).sessions].map((each) => each !== null),
      [true, false, true, false],
      `${aheadMs} ms`,
    );
    t.is(grants[0]?.granted, 5);
    const [leased] = await database.query<{ ms: number }>(
      `select extract(epoch from leased_until - clock_timestamp())::float8 * 1000 as ms from accounts.gateways where life = $1`,
      [life],
    );
    t.true(Math.abs(leased?.ms ?? Infinity) < 60_000, 'leased by the clock of PostgreSQL');
  });
  await service.end();
});

test('data-api with a wrong clock dates by PostgreSQL, and answers a gateway 503 with the cause in its log and /readyz', async (t) => {
  const service = await startMoved('data-api', asRole('almanac_data_api'));
  for (const [id, inMs] of Object.entries({ PAST: -hourMs, COMING: hourMs }))
    await database.query(
      `insert into data.releases (release_id, title, source, release_at, time_zone)
       values ($1, $1, 'Tests', clock_timestamp() + $2 * interval '1 ms', 'UTC')`,
      [id, inMs],
    );
  const day = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 10);
  const target = `/v1/calendar?from=${day(-daysMs)}&to=${day(daysMs)}&fields=id,status`;
  await eachOffset(service, async (aheadMs) => {
    const seen = await callAs('data-api', service.url, { aheadMs, target });
    t.deepEqual((seen.body as { data: unknown }).data, [
      { id: 'PAST', status: 'released' },
      { id: 'COMING', status: 'scheduled' },
    ]);
    const refused = await callAs('data-api', service.url, { aheadMs: 0, target });
    t.is(refused.status, 503, `${aheadMs} ms`);
    t.is((refused.body as { error: { code: string } }).error.code, 'unavailable');
    const seconds = (Math.abs(aheadMs) / 1_000).toFixed(0);
    const named = new RegExp(
      `The clock of this machine is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} PostgreSQL's`,
    );
    await until('it says why it is not ready', async () => {
      const readiness = await fetch(`${service.url}/readyz`);
      return readiness.status === 503 && named.test(await readiness.text());
    });
  });
  t.regex(service.output(), /"msg":"The clock of this machine is \d+ s (?:behind|ahead of) PostgreSQL's/);
  t.regex(service.output(), /The clock of the gateway is \d+ to \d+ s (?:behind|ahead of) that of data-api/);
  await service.end();
});

test('a gateway with a wrong clock fails with 503: it calls no key invalid, and serves no expired one', async (t) => {
  const [dataApi, accountsApi] = await Promise.all([
    startMoved('data-api', asRole('almanac_data_api')),
    startMoved('accounts-api', asRole('almanac_accounts_api')),
  ]);
  const gateway = await startMoved('gateway', {
    DATA_API_URL: dataApi.url,
    ACCOUNTS_API_URL: accountsApi.url,
  });
  const [valid, expired] = [await keyFor(hourMs), await keyFor(-1_000)];
  const statusFor = async (key: string) =>
    (await fetch(`${gateway.url}/v1/series/NONE`, { headers: { 'x-api-key': key } })).status;
  t.is(await statusFor(valid), 404, 'the key is accepted; there is no such series');
  t.is(await statusFor(expired), 401);
  await eachOffset(gateway, async (aheadMs) => {
    t.is(await statusFor(valid), 503, `${aheadMs} ms`);
    t.true([401, 503].includes(await statusFor(expired)), `${aheadMs} ms`);
    const readiness = await fetch(`${gateway.url}/readyz`);
    t.is(readiness.status, 503);
    // Why is for operators: in the log, and at the port of the metrics.
    t.regex(await readiness.text(), /This gateway cannot serve calls at the moment/);
    gateway.moveClock(0);
    await until('it serves again', async () => (await statusFor(valid)) === 404);
  });
  for (const each of [gateway, dataApi, accountsApi]) await each.end();
});

test('a worker with a wrong clock sends what is due by PostgreSQL’s clock, with that time, and nothing early', async (t) => {
  const receiver = await startReceiver(t);
  const { accountId, keyId } = await accounts.newClient('pro');
  const local = { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' };
  const api = await startMoved('accounts-api', { ...asRole('almanac_accounts_api'), ...local });
  const made = await callAs('accounts-api', api.url, {
    aheadMs: 0,
    identity: { accountId, keyId, plan: 'pro', features: ['webhooks'] },
    target: '/v1/webhooks',
    body: { url: receiver.url, events: ['key.revoked'] },
  });
  const webhookId = (made.body as { data: { id: string } }).data.id;
  const worker = await startMoved('worker', { ...asRole('almanac_accounts_api'), ...local });
  const message = async (dueInMs: number) => {
    const [event, id] = [newId('evt'), newId('msg')];
    await database.query(
      `with event as (
         insert into accounts.webhook_events (id, at, body) values ($1, clock_timestamp(), $1) returning id
       )
       insert into accounts.webhook_messages (id, webhook_id, event_id, type, created_at, due_at)
       select $2, $3, id, 'key.revoked', clock_timestamp(), clock_timestamp() + $4 * interval '1 ms' from event`,
      [event, id, webhookId, dueInMs],
    );
    return { event, id };
  };
  const early = await message(hourMs);
  await eachOffset(worker, async (aheadMs) => {
    const { event } = await message(0);
    const request = await receiver.next();
    t.is(request.body, event, `${aheadMs} ms`);
    const sentAt = Number(request.headers['webhook-timestamp']) * 1_000;
    t.true(Math.abs(Date.now() - sentAt) < 60_000, 'signed at the time of PostgreSQL');
  });
  t.false(receiver.received.some(({ body }) => body === early.event));
  for (const each of [worker, api]) await each.end();
});

test('a publisher with a wrong clock makes no release early, and makes those that are due', async (t) => {
  const publisher = await startMoved('publisher', asRole('almanac_publisher'));
  const accept = async (id: string, inMs: number) => {
    const [row] = await database.query<{ at: Date }>(
      `select clock_timestamp() + $1 * interval '1 ms' as at`,
      [inMs],
    );
    const { releaseNo } = await acceptUnderEmbargo(
      database,
      {
        ...{ dataset: 'observations', create: true, set: daily, seriesTimeZone: 'UTC' },
        input: fileOf(['series_id,date,value', `${id},2024-01-01,1`]),
      },
      { instant: row?.at.toISOString() ?? '' },
    );
    return releaseNo;
  };
  const early = await accept('EARLY', hourMs);
  await eachOffset(publisher, async (aheadMs) => {
    const due = await accept(`DUE${aheadMs}`.replace('-', 'M'), 3_000);
    await until(
      'a release that is due is made',
      async () => (await findRelease(database, due)).state === 'released',
    );
    t.is((await findRelease(database, early)).state, 'pending', `${aheadMs} ms`);
  });
  await publisher.end();
});
