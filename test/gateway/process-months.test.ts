// Gateways without Redis, each with an allotment in its process: together they serve exactly the limit, and what one holds and does not
// need, another soon has.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import test from 'ava';
import { QueryTypes } from 'sequelize';
import { createAccounts } from '../../gateway/accounts.ts';
import { createUpstreams } from '../../gateway/upstream/upstreams.ts';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { until } from '../run/until.ts';
import { startAccountsService, type AccountsService, type Client } from '../services/accounts-service.ts';
import { testIdentitySecret } from '../services/harness.ts';
import { passLeases, startCountingGateway, type CountingGateway } from './months.ts';

const limit = 1000; // of the free plan

let service: AccountsService;
test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
});
test.after.always(() => service?.close());

async function startGateways(count: number): Promise<CountingGateway[]> {
  return Promise.all(Array.from({ length: count }, () => startCountingGateway(service, undefined, 'closed')));
}

async function charged({ accountId }: Client): Promise<number> {
  const [row] = await service.deps.db.sequelize.query<{ used: number }>(
    'select used::float8 as used from accounts.quota_months where account_id = $1',
    { bind: [accountId], type: QueryTypes.SELECT },
  );
  return row?.used ?? 0;
}

/** Takes single calls one after the other until accounts-api has charged more than was taken. @returns how many were taken. */
async function untilItHolds(t: { fail(message: string): void }, gateway: CountingGateway, client: Client) {
  for (let taken = 1; taken < limit; taken += 1) {
    if (!(await gateway.take(client.accountId, 1, limit)).granted) break;
    if ((await charged(client)) > taken) return taken;
  }
  t.fail('no call was granted ahead');
  return Number.NaN;
}

for (let round = 1; round <= 3; round += 1) {
  test(`with three times the remaining calls over three gateways, exactly the remaining ones are served (${round})`, async (t) => {
    const client = await service.newClient('free');
    const gateways = await startGateways(3);
    t.teardown(() => gateways.forEach((gateway) => gateway.crash()));
    let served = 0;
    const callers = Array.from({ length: 60 }, async (_, i) => {
      const { take } = gateways[i % 3] as CountingGateway;
      for (let calls = 0; calls < 50; calls += 1) {
        if (!(await take(client.accountId, 1, limit)).granted) return;
        served += 1;
      }
    });
    await Promise.all(callers);
    t.true(served <= limit);
    for (const gateway of gateways) await gateway.settle(); // on a busy machine some was not returned in time
    const [{ take }] = gateways as [CountingGateway];
    while ((await take(client.accountId, 1, limit)).granted) served += 1;
    t.is(served, limit);
    for (const gateway of gateways) await gateway.settle();
    t.is(await service.used(client), limit);
    t.is(await charged(client), limit);
  });
}

test('calls that a gateway holds but does not draw are granted to another that needs all that is left', async (t) => {
  const client = await service.newClient('free');
  const [one, other] = (await startGateways(2)) as [CountingGateway, CountingGateway];
  t.teardown(() => [one, other].forEach((gateway) => gateway.crash()));
  const taken = await untilItHolds(t, one, client);
  await until('the other is granted all', async () => {
    const { granted } = await other.take(client.accountId, limit - taken, limit);
    if (!granted) await other.settle(); // on a busy machine they were not returned in time: it gives back what it got
    return granted;
  });
  t.false((await one.take(client.accountId, 1, limit)).granted);
});

test('an account that tops up two allotments at once, as when Redis comes back, fails no calls', async (t) => {
  const [twice, once] = [await service.newClient('free'), await service.newClient('free')];
  const accounts = createAccounts({
    upstreams: createUpstreams('accounts-api', [service.url]),
    identitySecret: testIdentitySecret,
  });
  t.teardown(() => accounts.close());
  const topUp = ({ accountId }: Client, holder: 'redis' | 'process', month = '2026-11-01') =>
    accounts.topUp({ accountId, month, allotment: randomUUID(), holder, seen: 0, calls: 3, ahead: 0 });
  const states = await Promise.all([
    topUp(twice, 'process'),
    topUp(once, 'process'),
    topUp(twice, 'redis'),
    topUp(twice, 'process'),
    topUp(once, 'redis'),
  ]);
  t.deepEqual(
    states.map(({ granted }) => granted),
    [3, 3, 3, 3, 3],
  );
  t.deepEqual([await charged(twice), await charged(once)], [9, 6]);
});

test('a top-up that accounts-api refuses as malformed counts as an outage, handled by QUOTA_OUTAGE', async (t) => {
  const refusing = createServer((request, response) => {
    response.writeHead(400, { 'x-request-id': request.headers['x-request-id'] }).end('{}');
  });
  const url = await listen(refusing, '127.0.0.1', 0);
  const gateway = await startCountingGateway({ url, clock: service.clock }, undefined, 'open');
  t.teardown(async () => {
    gateway.crash();
    await closeServer(refusing);
  });
  t.true((await gateway.take('acct_a', 1, limit)).granted);
});

test.serial('calls held by a killed gateway are refunded after a minute and a half', async (t) => {
  const client = await service.newClient('free');
  const [killed, other] = (await startGateways(2)) as [CountingGateway, CountingGateway];
  t.teardown(() => other.crash());
  const taken = await untilItHolds(t, killed, client);
  killed.crash();
  t.false((await other.take(client.accountId, limit, limit)).granted);
  await passLeases(service, [other]);
  t.true((await other.take(client.accountId, limit, limit)).granted, `${taken} were not reported`);
});
