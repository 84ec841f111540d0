// Reloading the configuration under load: an invalid one changes nothing, a valid one takes effect at once, and
// nothing of the previous one remains.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { openPlans } from '../../kernel/plans.ts';
import { projectRoot } from '../../kernel/project.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { projectPlans, unhurried } from '../services/services.ts';
import { answerPlainly, noon, startRecordingUpstream, startTestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
// It answers clients itself, as calls about accounts are not tested here.
const accountsApi = await startRecordingUpstream('accounts-api', accounts.url);
accountsApi.answer = answerPlainly;
const accountsApiUrls = [accountsApi.url];
test.after.always(async () => {
  await accountsApi.close();
  await accounts.close();
});

const directory = mkdtempSync(path.join(tmpdir(), 'almanac-reload-'));
cpSync(path.join(projectRoot, 'config'), directory, { recursive: true });
test.after.always(() => rmSync(directory, { recursive: true }));

const routesFile = path.join(directory, 'gateway.config.yml');
const goodRoutes = readFileSync(routesFile, 'utf8');
const plansFile = path.join(directory, 'plans.yml');
const goodPlans = readFileSync(plansFile, 'utf8');
test.beforeEach(() => {
  writeFileSync(routesFile, goodRoutes);
  writeFileSync(plansFile, goodPlans);
});

const wrongMaps: Record<string, [text: string, saying: RegExp]> = {
  'no YAML': ['apiEndpoints: [', /gateway\.config\.yml/],
  'an empty file': ['', /gateway\.config\.yml/],
  'a policy that is not there': [goodRoutes.replace('- quota:', '- quotas:'), /do not exist: quotas/],
  'a condition': [
    goodRoutes.replace('- quota:', '- quota: { condition: { name: always } }'),
    /is not allowed[\s\S]*condition/,
  ],
  'an action that the policy does not take': [
    goodRoutes.replace('accept: [key]', 'accept: [password]'),
    /accept/,
  ],
  'an endpoint that nothing serves': [
    goodRoutes.replace('apiEndpoints: [data]', 'apiEndpoints: [nothing]'),
    /nothing/,
  ],
};

test.serial(
  'an invalid routes file is refused with the reason, and the previous one stays active',
  async (t) => {
    const gateway = await startTestGateway({ accounts, accountsApiUrls, configDirectory: directory });
    t.teardown(() => gateway.close());
    const { key } = await accounts.newClient('enterprise');
    const status = async (target: string) =>
      (await fetch(gateway.url + target, { headers: { 'x-api-key': key } })).status;
    for (const [name, [text, saying]] of Object.entries(wrongMaps)) {
      t.not(text, goodRoutes, name);
      writeFileSync(routesFile, text);
      await t.throwsAsync(gateway.gateway.prepareReload(), { message: saying }, name);
      t.is(await status('/v1/series/A'), 200, name);
      t.is(await status('/v1/keys'), 200, name);
      t.is((await fetch(`${gateway.url}/v1/series/A`)).status, 401, name);
    }
  },
);

test.serial(
  'new routes are active once they are applied, in compiled pipelines and in the engine’s',
  async (t) => {
    const gateway = await startTestGateway({ accounts, accountsApiUrls, configDirectory: directory });
    t.teardown(() => gateway.close());
    const { key } = await accounts.newClient('enterprise');
    const status = async (target: string, init: RequestInit = {}) =>
      (await fetch(gateway.url + target, { ...init, headers: { 'x-api-key': key } })).status;
    writeFileSync(
      routesFile,
      goodRoutes
        .replace('      - /v1/trade\n', '      - /v1/exports\n')
        .replace('paths: [/v1/keys] }', 'paths: [/v1/all-keys] }'),
    );
    const swap = await gateway.gateway.prepareReload();
    t.deepEqual([await status('/v1/trade'), await status('/v1/keys')], [200, 200], 'prepared only');
    swap();
    t.deepEqual([await status('/v1/exports'), await status('/v1/all-keys')], [200, 200]);
    t.deepEqual([await status('/v1/trade'), await status('/v1/keys')], [404, 404]);
    t.is(await status('/v1/all-keys', { method: 'PATCH' }), 405, 'and so is what a path takes');
  },
);

test.serial(
  'a call in flight finishes under its old configuration, even if its path is removed meanwhile',
  async (t) => {
    const gateway = await startTestGateway({ accounts, accountsApiUrls, configDirectory: directory });
    t.teardown(() => gateway.close());
    const { key } = await accounts.newClient('enterprise');
    writeFileSync(routesFile, goodRoutes.replace('      - /v1/trade\n', ''));
    const swap = await gateway.gateway.prepareReload();
    gateway.dataApi.answer = (_request, response) => {
      swap();
      response.end('whole');
    };
    const get = () => fetch(`${gateway.url}/v1/trade`, { headers: { 'x-api-key': key } });
    t.is(await (await get()).text(), 'whole');
    t.is((await get()).status, 404);
  },
);

test.serial(
  'plans are reloaded on request: limits apply on the next call; an invalid file has no effect',
  async (t) => {
    const plans = openPlans(plansFile);
    const gateway = await startTestGateway({ accounts, accountsApiUrls, configDirectory: directory, plans });
    t.teardown(() => gateway.close());
    const { key } = await accounts.newClient('free');
    const policy = async () =>
      (await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } })).headers.get(
        'ratelimit-policy',
      );
    t.is(await policy(), '"second";q=5;w=1, "month";q=1000;w=2592000');
    writeFileSync(plansFile, goodPlans.replace('calls_second: 5,', 'calls_second: 7,'));
    const swap = plans.prepareReload();
    t.is(await policy(), '"second";q=5;w=1, "month";q=1000;w=2592000');
    swap();
    t.is(await policy(), '"second";q=7;w=1, "month";q=1000;w=2592000');
    for (const wrong of [
      'plans: [',
      goodPlans.replace('id: free', 'id: gratis'),
      goodPlans.replace('1000', '-1'),
    ]) {
      writeFileSync(plansFile, wrong);
      t.throws(() => plans.prepareReload(), { message: /plans\.yml|flow sequence|YAML/i });
      t.is(await policy(), '"second";q=7;w=1, "month";q=1000;w=2592000');
    }
  },
);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test.serial('sixty reloads under load fail no call and leave nothing behind', async (t) => {
  const gateway = await startTestGateway({
    accounts,
    accountsApiUrls,
    configDirectory: directory,
    plans: unhurried(projectPlans()),
  });
  t.teardown(() => gateway.close());
  const { key } = await accounts.newClient('enterprise');
  gateway.dataApi.answer = (_request, response) => {
    gateway.dataApi.received.length = 0; // the recorded requests would look like a leak
    response.end('{}');
  };
  const statuses = new Map<number, number>();
  const load = { isRunning: true };
  const clients = ['/v1/series/A', '/v1/trade', '/v1/usage', '/v1/catalog'].map(async (target) => {
    while (load.isRunning) {
      const { status } = await fetch(gateway.url + target, { headers: { 'x-api-key': key } });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      accountsApi.received.length = 0;
    }
  });
  const reload = async (times: number) => {
    for (let i = 0; i < times; i += 1) {
      writeFileSync(routesFile, i % 2 === 0 ? goodRoutes : goodRoutes.replace('/v1/amcs\n', '/v1/houses\n'));
      (await gateway.gateway.prepareReload())();
      await new Promise((resolve) => setImmediate(resolve)); // lets calls proceed between two reloads
    }
    collectGarbage();
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await reload(20);
  const after = await reload(40);
  load.isRunning = false;
  await Promise.all(clients);
  t.deepEqual([...statuses.keys()], [200], 'no call failed');
  t.log(
    `60 reloads, ${statuses.get(200)} calls, heap ${((after - before) / 1024).toFixed(0)} KB more after the last 40`,
  );
  // One set of routes with its engine app takes about 300 KB, so 40 leaked sets would be 12 MB.
  t.true(after - before < 6 * 1024 * 1024, `the heap grew by ${after - before} bytes`);
});
