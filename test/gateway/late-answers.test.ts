// Answers that come when nobody waits for them any more: what they took from a month is handed back, whoever was asked, and a
// gateway that ends hears them first.
import test from 'ava';
import pg from 'pg';
import { selectUsed } from '../../accounts-api/usage.sql.ts';
import { start, type RunningGateway } from '../../gateway/main.ts';
import { createLog } from '../../kernel/log.ts';
import { startAccountsRoom, type AccountsRoom, type Client } from '../accounts-room.ts';
import { silentLog } from '../harness.ts';
import { startProxy, type Proxy } from '../proxy.ts';
import { startRedis, type PrivateRedis } from '../redis.ts';
import { projectPlans, unhurried } from '../rooms.ts';
import { until } from '../until.ts';
import { scriptsRun, untilOneQuestion } from './questions.ts';
import { plainOptions, startRecordingUpstream, type Upstream } from './recording-upstream.ts';

let redis: PrivateRedis;
let room: AccountsRoom;
let dataApi: Upstream;
let toRedis: Proxy;
let toAccounts: Proxy;

test.before(async () => {
  redis = await startRedis();
  room = await startAccountsRoom('2026-11-20T10:00:00.000Z', silentLog, { redisUrl: redis.url });
  dataApi = await startRecordingUpstream('data-api');
  toRedis = await startProxy(redis.port);
  toAccounts = await startProxy(Number(new URL(room.url).port));
});
test.after.always(async () => {
  await toRedis?.close();
  await toAccounts?.close();
  await dataApi?.close();
  await room?.close();
  await redis?.stop();
});

function startGateway(redisUrl: string | undefined, log = silentLog): Promise<RunningGateway> {
  return start({
    ...plainOptions,
    dataApiUrls: [dataApi.url],
    accountsApiUrls: [`http://127.0.0.1:${toAccounts.port}`],
    plans: unhurried(projectPlans()),
    redisUrl,
    clock: room.clock,
    log,
  });
}

type Caller = Client & { key: string };
const call = (gateway: RunningGateway, { key }: Caller, init: RequestInit = {}, query = '') =>
  fetch(`${gateway.url}/v1/series/A${query}`, { ...init, headers: { 'x-api-key': key } });

const usedOf = ({ accountId }: Caller) => selectUsed(room.deps.db, accountId, '2026-11-01');

const warmUp = (gateway: RunningGateway, client: Caller) =>
  untilOneQuestion(redis, () => call(gateway, client));

test.serial('of Redis, where accounts-api has let the call in meanwhile', async (t) => {
  const client = await room.newClient('free');
  const gateway = await startGateway(`redis://127.0.0.1:${toRedis.port}`);
  const before = await warmUp(gateway, client);
  toRedis.deafen();
  t.is((await call(gateway, client)).status, 200);
  toRedis.mend();
  await gateway.close();
  t.is(await usedOf(client), before + 1);
});

test.serial('of Redis, where the client has left and the gateway is about to end', async (t) => {
  const client = await room.newClient('free');
  const gateway = await startGateway(`redis://127.0.0.1:${toRedis.port}`);
  const before = await warmUp(gateway, client);
  toRedis.deafen();
  const run = await scriptsRun(redis);
  const left = new AbortController();
  const leaving = call(gateway, client, { signal: left.signal });
  await until('Redis has run the script', async () => (await scriptsRun(redis)) > run);
  left.abort();
  await t.throwsAsync(leaving, { name: 'AbortError' });
  const closed = gateway.close();
  toRedis.mend();
  await closed;
  t.is(await usedOf(client), before);
});

for (const [what, query] of [
  ['of an ordinary call', ''],
  ['of one that its plan would have refused', '?vintage=2024-01-31'],
] as const) {
  test.serial(`of Redis in time, where the client ${what} has left: nothing is charged`, async (t) => {
    // A machine so busy that the answer came after the deadline has tried something else: then it is tried again.
    for (let tries = 0; tries < 20; tries += 1) {
      const { wasInTime, before, after } = await leaveWhileRedisAnswers(query);
      t.is(after, before);
      if (wasInTime) return;
    }
    t.fail('Redis never answered in time');
  });
}

/** Has a client leave while its call waits for Redis, which then answers. */
async function leaveWhileRedisAnswers(
  query: string,
): Promise<{ wasInTime: boolean; before: number; after: number }> {
  const client = await room.newClient('free');
  let logged = '';
  const log = createLog('gateway', 'info', { write: (line) => void (logged += line) });
  const gateway = await startGateway(`redis://127.0.0.1:${toRedis.port}`, log);
  let before = Number.NaN;
  try {
    before = await warmUp(gateway, client);
    logged = '';
    toRedis.deafen();
    const run = await scriptsRun(redis);
    const left = new AbortController();
    const leaving = call(gateway, client, { signal: left.signal }, query).catch(() => undefined);
    await until('Redis has run the script', async () => (await scriptsRun(redis)) > run);
    left.abort();
    await leaving;
    await until('the gateway has seen the client leave', () => logged.includes('"complete":false'));
  } finally {
    toRedis.mend();
    await gateway.close(); // hands over what it has journalled
  }
  return { wasInTime: !logged.includes('left alone'), before, after: await usedOf(client) };
}

test.serial(
  'of accounts-api, where the call was served as one that nobody could be asked about',
  async (t) => {
    const client = await room.newClient('free');
    const gateway = await startGateway(undefined);
    t.is((await call(gateway, client)).status, 200);
    await until('the call is charged', async () => (await usedOf(client)) === 1);
    const other = new pg.Client({ connectionString: room.databaseUrl });
    await other.connect();
    await other.query('begin');
    await other.query('select from accounts.quota_months where account_id = $1 for update', [
      client.accountId,
    ]);
    t.is((await call(gateway, client)).status, 200);
    await other.query('commit');
    await other.end();
    await gateway.close();
    t.is(await usedOf(client), 2);
  },
);
