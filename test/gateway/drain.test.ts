import { Agent, request } from 'node:http';
import test from 'ava';
import { startAccountsService, sumOf } from '../services/accounts-service.ts';
import { freePort } from '../services/instance.ts';
import { startRedis } from '../services/redis.ts';
import { until } from '../run/until.ts';
import {
  closedOnce,
  noon,
  startRecordingUpstream,
  startTestGateway,
  type Upstream,
} from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
test.after.always(() => accounts.close());

/** One call over a keep-alive connection. */
function get(url: string, agent: Agent, key: string): Promise<{ status: number; closes: boolean }> {
  return new Promise((resolve, reject) => {
    request(url, { agent, headers: { 'x-api-key': key } }, (response) => {
      response.resume();
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, closes: response.headers.connection === 'close' });
      });
      response.once('error', reject);
    })
      .once('error', reject)
      .end();
  });
}

test('closing under load loses no call: readiness ends first, then connections, then the calls in flight', async (t) => {
  const gateway = await startTestGateway({ accounts, drainDelayMs: 2_000 });
  t.teardown(() => gateway.close());
  const client = await accounts.newClient('enterprise');
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const answers: { status: number; closes: boolean }[] = [];
  const balancer = { ready: true };
  let isClosing = false; // before, a probe may be answered too late, or refused because of its rate
  // Each client continues until the balancer in front of the gateway would have stopped sending calls.
  const clients = Array.from({ length: 8 }, async () => {
    while (balancer.ready) answers.push(await get(`${gateway.url}/v1/series/A`, agent, client.key));
  });
  const probe = (async () => {
    while (balancer.ready) {
      const { status } = await get(`${gateway.url}/readyz`, new Agent(), '');
      balancer.ready = !isClosing || status === 200;
    }
  })();
  await until('twenty calls are answered', () => answers.length >= 20);
  isClosing = true;
  const closed = gateway.gateway.close();
  await Promise.all([probe, ...clients]);
  await closed;
  const statuses = new Set(answers.map(({ status }) => status));
  statuses.delete(429); // the load is beyond the plan's rate: an answer, not a loss
  t.deepEqual([...statuses], [200]);
  t.true(answers.some(({ closes }) => closes));
  const served = answers.filter(({ status }) => status === 200).length;
  t.is(sumOf(await accounts.ledger(client)).billed, served);
  t.is(await accounts.used(client), served);
});

test('a call in flight when closing begins is answered completely and counted in the usage', async (t) => {
  const gateway = await startTestGateway({ accounts });
  t.teardown(() => gateway.close());
  const client = await accounts.newClient('enterprise');
  let closing: Promise<void> | undefined;
  gateway.dataApi.answer = (_request, response) => {
    closing = gateway.gateway.close();
    response.write('first ');
    setImmediate(() => response.end('last'));
  };
  const response = await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': client.key } });
  t.is(await response.text(), 'first last');
  await closing;
  t.deepEqual(sumOf(await accounts.ledger(client)), { calls: 1, billed: 1 });
  await t.throwsAsync(fetch(`${gateway.url}/v1/catalog`));
});

test('a service that is stopped under load ends, and no call is lost if another instance runs', async (t) => {
  const services = [await startRecordingUpstream('data-api'), await startRecordingUpstream('data-api')].map(
    closedOnce,
  );
  t.teardown(() => Promise.all(services.map((service) => service.close())));
  const gateway = await startTestGateway({ accounts, dataApiUrls: services.map(({ url }) => url) });
  t.teardown(() => gateway.close());
  const { key } = await accounts.newClient('enterprise');
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const statuses: number[] = [];
  const load = { isRunning: true };
  const clients = Array.from({ length: 8 }, async () => {
    while (load.isRunning) statuses.push((await get(`${gateway.url}/v1/series/A`, agent, key)).status);
  });
  const served = (service: Upstream | undefined) => service?.received.length ?? 0;
  await until('both serve', () => services.every((service) => served(service) > 20));
  await services[0]?.close();
  const before = served(services[1]);
  await until('the other goes on', () => served(services[1]) > before + 20);
  load.isRunning = false;
  await Promise.all(clients);
  const seen = new Set(statuses);
  seen.delete(429); // the load is beyond the plan's rate: an answer, not a loss
  t.deepEqual([...seen], [200]);
});

test('a stopping gateway reports its usage, whatever other gateways have left in Redis', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const gateway = await startTestGateway({ accounts, redisUrl: redis.url, reportUsageEveryMs: 60_000 });
  t.teardown(() => gateway.close());
  const client = await accounts.newClient('free');
  const headers = { 'x-api-key': client.key };
  t.is((await fetch(`${gateway.url}/v1/series/A`, { headers })).status, 200);
  const farAhead = Date.now() + 3_600_000; // otherwise it would expire
  await redis.command('hset', 'almanac:answers', 'another', `${farAhead} {"of":"another version"}`);
  await gateway.close();
  t.deepEqual(sumOf(await accounts.ledger(client)), { calls: 1, billed: 1 });
});

test('a gateway that cannot store its journal does not start, and frees its port', async (t) => {
  const port = await freePort();
  const journalDirectory = `${import.meta.filename}/journal`; // no directory can be created below a file
  await t.throwsAsync(startTestGateway({ port, journalDirectory }), { code: 'ENOTDIR' });
  const next = await startTestGateway({ port });
  await next.close();
});
