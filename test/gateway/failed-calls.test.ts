// Calls that reserve a part of the month without being served: a failed call frees its reservation at once, and calls wait for one in flight. For the
// reservations of a gateway that is gone, see blocks.test.ts.
import test, { type ExecutionContext } from 'ava';
import { closeLives } from '../../accounts-api/heartbeat/blocks.ts';
import { noon, startTestGateway, type Answer, type TestGateway } from './recording-upstream.ts';
import { startAccountsService, type AccountsService, type Client } from '../services/accounts-service.ts';
import { closeAfterMs, leaseMs } from '../../kernel/heartbeat/times.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { until } from '../run/until.ts';

const limit = 1000; // of the free plan

let accounts: AccountsService;
test.before(async () => {
  accounts = await startAccountsService(noon);
});
test.after.always(async () => {
  await accounts?.close();
});

type Caller = Client & { key: string };

async function clientWithLeft(left: number): Promise<Caller> {
  const client = await accounts.newClient('free');
  await accounts.charge(client, limit - left);
  return client;
}

/** Answers 404 to `GONE`, answers `HANG` only once it is released, and answers 200 to all others. */
function answering(): { answer: Answer; hanging: () => number; letGo(status: number): void } {
  const waiting: ((status: number) => void)[] = [];
  return {
    answer({ url }, response) {
      const end = (status: number) =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end('{"success":true}');
      if (url.includes('HANG')) waiting.push(end);
      else end(url.includes('GONE') ? 404 : 200);
    },
    hanging: () => waiting.length,
    letGo(status) {
      for (const end of waiting.splice(0)) end(status);
    },
  };
}

const statusAt = async ({ url }: TestGateway, { key }: Caller, path = '/v1/series/A') =>
  (await fetch(url + path, { headers: { 'x-api-key': key } })).status;

/** The same, of a call that waits for what another gateway holds: on a busy machine it is refused before that has arrived, and is repeated. */
async function statusOnceGranted(gateway: TestGateway, client: Caller, path?: string): Promise<number> {
  let status = 402;
  await until('the call is granted', async () => {
    status = await statusAt(gateway, client, path);
    return status !== 402;
  });
  return status;
}

const start = async (t: ExecutionContext): Promise<TestGateway> => {
  const plans = unhurried(projectPlans());
  const gateway = await startTestGateway({ accounts, plans, reportUsageEveryMs: 250 });
  t.teardown(() => gateway.close());
  gateway.dataApi.answer = answering().answer;
  return gateway;
};

test.serial(
  `with 5 calls left, five that fail one after the other leave exactly 5 for the next calls`,
  async (t) => {
    const gateway = await start(t);
    const client = await clientWithLeft(5);
    for (let round = 0; round < 3; round += 1)
      for (let i = 0; i < 5; i += 1) t.is(await statusAt(gateway, client, '/v1/series/GONE'), 404);
    const statuses = [];
    for (let i = 0; i < 6; i += 1) statuses.push(await statusAt(gateway, client));
    t.deepEqual(statuses, [200, 200, 200, 200, 200, 402]);
    await gateway.close();
    t.is(await accounts.used(client), limit);
  },
);

test.serial(`what failed calls held is spendable at another gateway, which waits for it`, async (t) => {
  const [one, other] = [await start(t), await start(t)];
  const client = await clientWithLeft(5);
  const statuses = [];
  for (let i = 0; i < 5; i += 1) {
    t.is(await statusOnceGranted(one, client, '/v1/series/GONE'), 404);
    t.is(await statusOnceGranted(other, client, '/v1/series/GONE'), 404);
    const failed = [1, 2, 3, 4, 5].map(() => statusAt(one, client, '/v1/series/GONE'));
    for (const status of await Promise.all(failed)) t.true(status === 404 || status === 402);
    statuses.push(await statusOnceGranted(other, client));
  }
  t.deepEqual(statuses, [200, 200, 200, 200, 200]);
  for (const gateway of [one, other]) t.is(await statusAt(gateway, client), 402);
});

test.serial(
  `a list with more series than remaining calls is refused as a whole; all remaining calls can then be served at any gateway`,
  async (t) => {
    const [one, other] = [await start(t), await start(t)];
    const client = await clientWithLeft(10);
    const ids = (count: number) => `/v1/series?ids=${'A,'.repeat(count - 1)}A`;
    for (let i = 0; i < 3; i += 1) t.is(await statusAt(one, client, ids(11)), 402);
    t.is(await statusOnceGranted(other, client, ids(6)), 200);
    t.is(await statusAt(other, client, ids(5)), 402);
    for (let i = 0; i < 4; i += 1) t.is(await statusOnceGranted(i % 2 === 0 ? one : other, client), 200);
    t.is(await statusAt(one, client), 402);
  },
);

test.serial(
  `while the last calls of a month are in flight the next are refused; once those fail, the next are served`,
  async (t) => {
    const [one, other] = [await start(t), await start(t)];
    const { answer, hanging, letGo } = answering();
    one.dataApi.answer = answer;
    const client = await clientWithLeft(3);
    const inFlight = [1, 2, 3].map(() => statusAt(one, client, '/v1/series/HANG'));
    await until('they are under way', () => hanging() === 3);
    for (const gateway of [one, other]) t.is(await statusAt(gateway, client), 402);
    letGo(404);
    t.deepEqual(await Promise.all(inFlight), [404, 404, 404]);
    const served = [one, other, one].map((gateway) => statusOnceGranted(gateway, client));
    t.deepEqual(await Promise.all(served), [200, 200, 200]);
    t.is(await statusAt(other, client), 402);
  },
);

test.serial(
  `a call in flight at a gateway that is paused for more than two minutes is cut off, and the next call uses its quota`,
  async (t) => {
    const gateway = await start(t);
    const { answer, hanging, letGo } = answering();
    gateway.dataApi.answer = answer;
    const client = await clientWithLeft(1);
    const paused = statusAt(gateway, client, '/v1/series/HANG');
    await until('it is under way', () => hanging() === 1);
    accounts.clock.advance(leaseMs + closeAfterMs);
    t.teardown(() => accounts.clock.set(noon));
    letGo(200);
    await t.throwsAsync(paused);
    // The same by PostgreSQL's clock, unless a message has extended the lease since.
    await accounts.deps.db.sequelize.query(
      "update accounts.gateways set leased_until = leased_until - interval '3 minutes'",
    );
    await closeLives(accounts.deps);
    await until('the next is served', async () => (await statusAt(gateway, client)) === 200);
    t.is(await statusAt(gateway, client), 402);
    await gateway.close();
    t.is(await accounts.used(client), limit);
  },
);
