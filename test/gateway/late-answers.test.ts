// Answers that arrive after their caller has stopped waiting: the reserved calls are charged only if served, and a gateway that shuts down waits for
// them.
import test from 'ava';
import { QueryTypes } from 'sequelize';
import { start, type RunningGateway } from '../../gateway/main.ts';
import { createLog } from '../../kernel/log/log.ts';
import { startAccountsService, type AccountsService, type Client } from '../services/accounts-service.ts';
import { silentLog } from '../services/harness.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { until } from '../run/until.ts';
import { createWay, startLife } from './lives.ts';
import {
  closedOnce,
  plainOptions,
  passOn,
  startRecordingUpstream,
  type Upstream,
} from './recording-upstream.ts';

let service: AccountsService;
let dataApi: Upstream;

test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
  dataApi = await startRecordingUpstream('data-api');
});
test.after.always(async () => {
  await dataApi?.close();
  await service?.close();
});

async function startGateway(log = silentLog, accountsApiUrl = service.url): Promise<RunningGateway> {
  const gateway = await start({
    ...plainOptions,
    dataApiUrls: [dataApi.url],
    accountsApiUrls: [accountsApiUrl],
    plans: unhurried(projectPlans()),
    clock: service.clock,
    log,
  });
  return closedOnce(gateway);
}

type Caller = Client & { key: string };
const call = (gateway: RunningGateway, { key }: Caller, init: RequestInit = {}, path = '/v1/series/A') =>
  fetch(gateway.url + path, { ...init, headers: { 'x-api-key': key } });

/** The calls charged to the month, and those granted to gateways. */
async function monthOf({ accountId }: Client): Promise<{ used: number; out: number }> {
  const [row] = await service.deps.db.sequelize.query<{ used: number; out: number }>(
    'select used::float8 as used, out::float8 as out from accounts.quota_months where account_id = $1',
    { bind: [accountId], type: QueryTypes.SELECT },
  );
  return row ?? { used: 0, out: 0 };
}

test.serial('an answer of accounts-api in time charges nothing if the client has left', async (t) => {
  const client = await service.newClient('free');
  let logged = '';
  const log = createLog('gateway', 'info', { write: (line) => void (logged += line) });
  const gateway = await startGateway(log);
  t.teardown(() => gateway.close());
  await service.charge(client, 1); // the month has a row that can be locked
  const forwarded = dataApi.received.length;
  const left = new AbortController();
  await whileMonthIsLocked(client, async () => {
    const leaving = call(gateway, client, { signal: left.signal }).catch(() => undefined);
    await untilMonthIsWaitedFor();
    left.abort();
    await leaving;
    await until('the gateway has seen the client leave', () => logged.includes('"complete":false'));
  });
  await gateway.close();
  t.deepEqual(await monthOf(client), { used: 1, out: 0 });
  t.is(dataApi.received.length, forwarded);
});

/** A list that counts as more calls than a gateway is granted in advance. */
const longList = `/v1/series?ids=${Array.from({ length: 100 }, (_none, i) => `A${i}`).join()}`;

for (const { waiting, before } of [
  { waiting: 'its key', before: 0 },
  { waiting: 'calls of its month', before: 1 },
]) {
  test.serial(
    `a closing gateway waits for a call that awaits ${waiting}, though its client has left`,
    async (t) => {
      const client = await service.newClient('free');
      const accountsApi = await startRecordingUpstream('accounts-api', service.url);
      t.teardown(() => accountsApi.close());
      let messages = 0;
      accountsApi.answerOurselves = (received, response) => {
        messages += 1;
        passOn(service.url, received, response);
      };
      let logged = '';
      const log = createLog('gateway', 'info', { write: (line) => void (logged += line) });
      const gateway = await startGateway(log, accountsApi.url);
      t.teardown(() => gateway.close());
      await service.charge(client, 1); // the month has a row that can be locked
      for (let i = 0; i < before; i += 1) t.is((await call(gateway, client)).status, 200);
      const left = new AbortController();
      let closed: Promise<void> | undefined;
      await whileMonthIsLocked(client, async () => {
        const leaving = call(gateway, client, { signal: left.signal }, longList).catch(() => undefined);
        await untilMonthIsWaitedFor();
        left.abort();
        await leaving;
        await until('the gateway has seen the client leave', () => logged.includes('"complete":false'));
        closed = gateway.close();
        await until('the gateway does not listen any more', () =>
          fetch(`${gateway.url}/healthz`).then(
            () => false,
            () => true,
          ),
        );
        const sent = messages;
        await until('the gateway sends a further heartbeat', () => messages > sent);
      });
      await closed;
      t.deepEqual(await monthOf(client), { used: 1 + before, out: 0 });
    },
  );
}

test.serial('a grant whose answer is lost is repeated, and charged once', async (t) => {
  const client = await service.newClient('free');
  const way = createWay();
  const life = await startLife(service, { outage: 'closed', through: way.through });
  t.teardown(() => life.close());
  way.deafen();
  await t.throwsAsync(life.serve(client.accountId, 300));
  t.true((await monthOf(client)).out >= 300, 'it was granted');
  way.mend();
  t.truthy((await life.serve(client.accountId, 300)).charge);
  t.truthy((await life.serve(client.accountId, 700)).charge);
  t.is((await life.serve(client.accountId, 1)).charge, null);
  await life.flushJournal();
  t.deepEqual(await monthOf(client), { used: 1000, out: 0 });
});

test.serial(
  'an answer that comes late charges nothing of its own, if the call was one of an outage',
  async (t) => {
    const client = await service.newClient('free');
    const gateway = await startGateway();
    t.teardown(() => gateway.close());
    t.is((await call(gateway, client)).status, 200);
    const { out } = await monthOf(client);
    let served = 1;
    await whileMonthIsLocked(client, async () => {
      for (; served <= out + 1; served += 1) t.is((await call(gateway, client)).status, 200);
    });
    await gateway.close();
    t.deepEqual(await monthOf(client), { used: served, out: 0 });
  },
);

/** Resolves when accounts-api waits for a locked month. */
function untilMonthIsWaitedFor(): Promise<void> {
  return until('accounts-api waits for the month', async () => {
    const waiting = await service.deps.db.sequelize.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      { type: QueryTypes.SELECT },
    );
    return waiting.length > 0;
  });
}

/** Does work while the row of the client's month is locked, so that accounts-api cannot answer about it. */
function whileMonthIsLocked({ accountId }: Client, work: () => Promise<void>): Promise<void> {
  const { sequelize } = service.deps.db;
  return sequelize.transaction(async (transaction) => {
    await sequelize.query('select from accounts.quota_months where account_id = $1 for update', {
      bind: [accountId],
      transaction,
    });
    await work();
  });
}
