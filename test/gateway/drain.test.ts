import { Agent, request } from 'node:http';
import test from 'ava';
import { startTestGateway, startUpstream, type Upstream } from './stand-ins.ts';

/** One call over a connection that is kept. */
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

test('closing under load loses no call: readiness goes first, then connections, then the calls under way end', async (t) => {
  const gateway = await startTestGateway({ drainDelayMs: 300 });
  const { account, key } = gateway.accounts.addAccount({ plan: 'enterprise', limit: null });
  const agent = new Agent({ keepAlive: true });
  const answers: { status: number; closes: boolean }[] = [];
  const balancer = { ready: true };
  // Each client goes on until the balancer in front of it would have stopped sending.
  const clients = Array.from({ length: 8 }, async () => {
    while (balancer.ready) answers.push(await get(`${gateway.url}/v1/series/A`, agent, key));
  });
  const probe = (async () => {
    while (balancer.ready)
      balancer.ready = (await get(`${gateway.url}/readyz`, new Agent(), '')).status === 200;
  })();
  while (answers.length < 20) await new Promise((resolve) => setImmediate(resolve));
  const closed = gateway.gateway.close();
  await Promise.all([probe, ...clients]);
  await closed;
  const statuses = new Set(answers.map(({ status }) => status));
  statuses.delete(429); // the load is beyond the plan's rate: an answer, not a loss
  t.deepEqual([...statuses], [200]);
  t.true(answers.some(({ closes }) => closes));
  const served = answers.filter(({ status }) => status === 200).length;
  const rows = gateway.accounts.settled.usage.filter(({ account_id }) => account_id === account.id);
  t.is(
    rows.reduce((sum, { billed }) => sum + billed, 0),
    served,
  );
  agent.destroy();
  await gateway.closeStandIns();
});

test('a call under way when closing begins is answered whole, and is in the usage', async (t) => {
  const gateway = await startTestGateway();
  const { key } = gateway.accounts.addAccount();
  let closing: Promise<void> | undefined;
  gateway.dataApi.answer = (_request, response) => {
    closing = gateway.gateway.close();
    response.write('first ');
    setImmediate(() => response.end('last'));
  };
  const response = await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } });
  t.is(await response.text(), 'first last');
  await closing;
  t.is(
    gateway.accounts.settled.usage.reduce((sum, { billed }) => sum + billed, 0),
    1,
  );
  await t.throwsAsync(fetch(`${gateway.url}/v1/catalog`));
  await gateway.closeStandIns();
});

test('a room that is stopped under load ends, and loses no call where another stands beside it', async (t) => {
  const rooms = [await startUpstream('data-api'), await startUpstream('data-api')];
  const gateway = await startTestGateway({ dataApiUrls: rooms.map(({ url }) => url) });
  const { key } = gateway.accounts.addAccount({ plan: 'enterprise', limit: null });
  const agent = new Agent({ keepAlive: true });
  const statuses: number[] = [];
  const load = { goesOn: true };
  const clients = Array.from({ length: 8 }, async () => {
    while (load.goesOn) statuses.push((await get(`${gateway.url}/v1/series/A`, agent, key)).status);
  });
  const served = (room: Upstream | undefined) => room?.received.length ?? 0;
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
  };
  await until(() => rooms.every((room) => served(room) > 20));
  await rooms[0]?.close();
  const before = served(rooms[1]);
  await until(() => served(rooms[1]) > before + 20);
  load.goesOn = false;
  await Promise.all(clients);
  const seen = new Set(statuses);
  seen.delete(429); // the load is beyond the plan's rate: an answer, not a loss
  t.deepEqual([...seen], [200]);
  agent.destroy();
  await gateway.close();
  await rooms[1]?.close();
});
