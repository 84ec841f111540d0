// Services behind the gateway are replaced one after the other under load: no call is lost, whether the gateway knows each instance or a balancer is
// in front of them.
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { sendJson } from '../../kernel/http/reply.ts';
import { type Handler, startService, type RunningService } from '../../kernel/http/server.ts';
import { createOpener } from '../../kernel/identity.ts';
import { startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { startBalancer } from '../production/balancer.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { freePort } from '../services/instance.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { until } from '../run/until.ts';
import { exempt } from '../openapi/check-answers.ts';
import { startTestGateway } from './recording-upstream.ts';

let accounts: AccountsService;
test.before(async () => {
  accounts = await startAccountsService();
});
test.after.always(() => accounts?.close());

/** The server of a service with one answer; `served` counts. */
async function startInstance(port: number, drainDelayMs = 0): Promise<RunningService & { served(): number }> {
  let served = 0;
  const handler: Handler = async (_request, response) => {
    await pause(2);
    served += 1;
    sendJson(response, 200, { success: true });
  };
  const service = await startService({
    log: silentLog,
    routes: [{ method: 'GET', path: '/v1/series/:id', scope: 'client', handler }],
    openIdentity: createOpener(testIdentitySecret, 'data-api'),
    ready: () => Promise.resolve(),
    host: '127.0.0.1',
    port,
    drainDelayMs,
  });
  return { ...service, served: () => served };
}

/** Eight clients that call continuously. */
function load(url: string, key: string) {
  const client = { isRunning: true };
  let answered = 0;
  const failures: string[] = [];
  const loops = Array.from({ length: 8 }, async () => {
    while (client.isRunning) {
      const response = await fetch(`${url}/v1/series/A`, { headers: { 'x-api-key': key } });
      const body = await response.text();
      answered += 1;
      if (response.status !== 200) failures.push(`${response.status} ${body}`);
    }
  });
  return {
    answered: () => answered,
    /** @returns the answers other than 200. */
    async stop(): Promise<string[]> {
      client.isRunning = false;
      await Promise.all(loops);
      return failures;
    },
  };
}

async function startUnhurried(t: ExecutionContext, dataApiUrls: readonly string[]) {
  exempt();
  const gateway = await startTestGateway({ accounts, dataApiUrls, plans: unhurried(projectPlans()) });
  t.teardown(() => gateway.close());
  const { key } = await accounts.newClient('enterprise');
  return load(gateway.url, key);
}

test('two instances replaced in quick succession lose no call, and each is used again once it is back', async (t) => {
  const ports = [await freePort(), await freePort()];
  const instances = await Promise.all(ports.map((port) => startInstance(port)));
  t.teardown(() => Promise.all(instances.map((instance) => instance.close().catch(() => undefined))));
  const calls = await startUnhurried(
    t,
    ports.map((port) => `http://127.0.0.1:${port}`),
  );
  for (let round = 0; round < 4; round += 1) {
    for (const [i, port] of ports.entries()) {
      const before = calls.answered();
      await instances[i]?.close();
      await until('calls go on', () => calls.answered() > before + 10);
      const again = await startInstance(port);
      instances[i] = again; // the other one is replaced at once, just after this one was unavailable
    }
  }
  await until('both are used', () => instances.every((instance) => instance.served() > 10));
  t.deepEqual(await calls.stop(), []);
});

test('behind a balancer that removes an instance late, replacing all instances loses no call', async (t) => {
  const balancer = await startBalancer();
  t.teardown(() => balancer.close());
  const instances: RunningService[] = [];
  t.teardown(() => Promise.all(instances.map((instance) => instance.close().catch(() => undefined))));
  const add = async () => {
    const port = await freePort();
    const instance = await startInstance(port, 5_000);
    instances.push(instance);
    balancer.add(`http://127.0.0.1:${port}`);
    return instance;
  };
  const old = [await add(), await add()];
  const calls = await startUnhurried(t, [balancer.url]);
  await add();
  await add();
  const before = calls.answered();
  const closed = { count: 0 };
  const closing = old.map((instance) => instance.close().then(() => void (closed.count += 1)));
  await until('the balancer leaves both out', () => balancer.inTurn().length === 2);
  t.is(closed.count, 0);
  await Promise.all(closing);
  await until('calls go on', () => calls.answered() > before + 10);
  t.deepEqual(await calls.stop(), []);
  t.is(balancer.refused(), 0);
});
