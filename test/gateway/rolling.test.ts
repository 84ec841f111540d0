// Gateways as processes in a cluster: replaced one by one under load, and reloading their plans on SIGHUP.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { projectRoot } from '../../kernel/project.ts';
import { startAccountsService, sumOf } from '../services/accounts-service.ts';
import { freePort } from '../services/instance.ts';
import { startGatewayProcess, type GatewayProcess } from './gateway-process.ts';
import { until } from '../run/until.ts';
import { startRecordingUpstream } from './recording-upstream.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'almanac-plans-'));
const plansFile = path.join(directory, 'plans.yml');
const plans = readFileSync(path.join(projectRoot, 'config/plans.yml'), 'utf8');
const unhurried = plans.replaceAll(/(calls_second|concurrency): \d+/g, '$1: 100000');

const dataApi = await startRecordingUpstream('data-api');
const accounts = await startAccountsService(new Date().toISOString());
const running: GatewayProcess[] = [];
test.after.always(async () => {
  await Promise.all(running.map((gateway) => gateway.stop('SIGKILL')));
  await Promise.all([dataApi.close(), accounts.close()]);
  rmSync(directory, { recursive: true });
});

async function startOne(env: Record<string, string> = {}): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess({
    DATA_API_URL: dataApi.url,
    ACCOUNTS_API_URL: accounts.url,
    PLANS_FILE: plansFile,
    DRAIN_DELAY_MS: '1500',
    LOG_LEVEL: 'info',
    ...env,
  });
  running.push(gateway);
  return gateway;
}

interface Backend {
  gateway: GatewayProcess;
  ready: boolean;
}

/** Probes an instance like the balancer in front of it, until it is not ready. */
async function watch(backend: Backend): Promise<void> {
  while (backend.ready) {
    const response = await fetch(`${backend.gateway.url}/readyz`).catch(() => undefined);
    backend.ready = response?.status === 200;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** One call over a keep-alive connection. */
function call(url: string, agent: Agent, key: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/series/A`, { agent, headers: { 'x-api-key': key } }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end();
  });
}

test.serial('two gateways replaced one by one under load lose no call, and bill each once', async (t) => {
  writeFileSync(plansFile, unhurried);
  const client = await accounts.newClient('enterprise');
  const backends: Backend[] = [];
  const watches: Promise<void>[] = [];
  const add = async () => {
    const backend = { gateway: await startOne(), ready: true };
    backends.push(backend);
    watches.push(watch(backend));
    return backend;
  };
  const old = await Promise.all([add(), add()]);

  const load = { isRunning: true };
  let served = 0;
  const failures: string[] = [];
  const clients = Array.from({ length: 8 }, async (_, no) => {
    const agent = new Agent({ keepAlive: true });
    for (let i = no; load.isRunning; i += 1) {
      const ready = backends.filter((backend) => backend.ready);
      const backend = ready[i % ready.length];
      if (backend === undefined) throw new Error('No gateway is ready.');
      try {
        const { status, body } = await call(backend.gateway.url, agent, client.key);
        if (status === 200 && body === '{"success":true}') served += 1;
        else failures.push(`${status} ${body}`);
      } catch (error) {
        failures.push(String(error));
      }
    }
    agent.destroy();
  });
  for (const { gateway } of old) {
    await add();
    t.is(await gateway.stop('SIGTERM'), 0);
  }
  load.isRunning = false;
  await Promise.all(clients);
  t.deepEqual(failures, []);
  t.true(served > 100, `${served} calls`);
  const codes = await Promise.all(
    backends.filter(({ gateway }) => gateway.process.exitCode === null).map(({ gateway }) => gateway.stop()),
  );
  t.deepEqual(codes, [0, 0]);
  await Promise.all(watches);
  // Each sent its usage before it ended.
  t.is(sumOf(await accounts.ledger(client)).billed, served);
  for (const { gateway } of backends) t.false(gateway.output().includes(client.key));
});

test.serial('SIGHUP applies new plans; an invalid file is logged and changes nothing', async (t) => {
  writeFileSync(plansFile, plans);
  const metricsPort = await freePort();
  const gateway = await startOne({ METRICS_PORT: String(metricsPort) });
  const { key } = await accounts.newClient('free');
  const policy = async () => {
    const response = await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } });
    return response.headers.get('ratelimit-policy')?.split(', ', 1)[0];
  };
  /** Sends the signal and waits until the log reports the outcome. */
  const reload = async (message: string) => {
    const before = gateway.output().split(message).length;
    gateway.process.kill('SIGHUP');
    await until(`the log says: ${message}`, () => gateway.output().split(message).length > before);
  };
  t.is(await policy(), '"second";q=5;w=1');
  writeFileSync(plansFile, plans.replace('calls_second: 5,', 'calls_second: 8,'));
  await reload('was reloaded and is active');
  t.is(await policy(), '"second";q=8;w=1');
  writeFileSync(plansFile, plans.replace('id: free', 'id: gratis'));
  await reload('is invalid; the previous one stays active');
  t.regex(gateway.output(), /a plan with id \\"free\\" is needed/);
  t.is(await policy(), '"second";q=8;w=1');
  const metrics = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  t.regex(await metrics.text(), /^almanac_gateway_requests_total\{group="series",status="2xx"\} 3$/m);
  t.is((await fetch(`${gateway.url}/metrics`)).status, 404);
  t.is(await gateway.stop('SIGTERM'), 0);
});
