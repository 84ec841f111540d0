// /readyz reports what the gateway can serve. It must not take all gateways out of service because one service is unavailable, nor keep a gateway in
// service that every service refuses.
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import { start as startAccounts } from '../../accounts-api/main.ts';
import { start as startDataApi } from '../../data-api/main.ts';
import { systemClock } from '../../kernel/clock.ts';
import { startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { startDataService, type DataService } from '../services/data-service.ts';
import { listening, silentLog, testIdentitySecret } from '../services/harness.ts';
import { projectPlans } from '../services/services.ts';
import { testSignIn } from '../services/sign-in.ts';
import { until, within } from '../run/until.ts';
import { startService } from '../../kernel/http/server.ts';
import { startRawUpstream } from './raw-upstream.ts';
import { startTestGateway } from './recording-upstream.ts';

let accounts: AccountsService;
let dataApi: DataService;
test.before(async () => {
  accounts = await startAccountsService();
  dataApi = await startDataService();
});
test.after.always(async () => {
  await accounts?.close();
  await dataApi?.close();
});

const nobody = 'http://127.0.0.1:1';
const metrics = { host: '127.0.0.1', port: 0 };
const withoutReason =
  'This gateway cannot serve calls at the moment. The reason is in its log, and at /readyz of its metrics port.';

async function readiness(
  url: string,
): Promise<{ status: number; body: { data?: unknown; error?: { message: string } } }> {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: (await response.json()) as { data?: unknown } };
}

/** On a busy machine a service may answer a probe too late and appear unavailable. */
async function untilReadiness(url: string, expected: object): Promise<void> {
  await until(`readiness is ${JSON.stringify(expected)}`, async () =>
    isDeepStrictEqual(await readiness(url), expected),
  );
}

for (const [what, dataApiUrl, accountsApiUrl, states] of [
  ['both services are there', () => dataApi.url, () => accounts.url, ['ready', 'ready']],
  ['accounts-api is away', () => dataApi.url, () => nobody, ['ready', 'unavailable']],
  ['data-api is away', () => nobody, () => accounts.url, ['unavailable', 'ready']],
] as const) {
  test(`while ${what}, a gateway is ready and reports which services it can serve`, async (t) => {
    const gateway = await startTestGateway({
      ...{ dataApiUrls: [dataApiUrl()], accountsApiUrls: [accountsApiUrl()] },
    });
    t.teardown(() => gateway.close());
    const [ofDataApi, ofAccountsApi] = states;
    await untilReadiness(gateway.url, {
      status: 200,
      body: { success: true, data: { 'data-api': ofDataApi, 'accounts-api': ofAccountsApi } },
    });
    t.pass();
  });
}

test('a service that does not answer counts as unavailable: readiness does not wait for it', async (t) => {
  const silent = await startRawUpstream();
  t.teardown(() => silent.close());
  silent.answer = () => undefined;
  const gateway = await startTestGateway({ accounts, dataApiUrls: [silent.url] });
  t.teardown(() => gateway.close());
  await untilReadiness(gateway.url, {
    status: 200,
    body: { success: true, data: { 'data-api': 'unavailable', 'accounts-api': 'ready' } },
  });
  t.pass();
});

test('a gateway asks its services at most once a second, however often it is asked', async (t) => {
  const unready = await startRawUpstream();
  let questions = 0;
  unready.answer = (socket, { path }) => {
    questions += path === '/readyz' ? 1 : 0;
    socket.end('HTTP/1.1 503 Unready\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  };
  const { log, messages } = listening();
  const urls = { dataApiUrls: [unready.url], accountsApiUrls: [nobody] };
  const gateway = await startTestGateway({ ...urls, log, metrics });
  t.teardown(async () => {
    await gateway.close();
    await unready.close();
  });
  const startedAtMs = performance.now();
  for (let i = 0; i < 100; i += 1) {
    const { status, body } = await readiness(gateway.url);
    t.is(status, 503);
    t.is(body.error?.message, withoutReason);
  }
  const seconds = (performance.now() - startedAtMs) / 1_000;
  t.true(questions >= 1 && questions <= 1 + seconds, `${questions} questions in ${seconds} s`);
  const why =
    'No service behind this gateway is ready. data-api: It answers 503. accounts-api: It does not answer.';
  t.is((await readiness(gateway.gateway.metricsUrl ?? '')).body.error?.message, why);
  t.deepEqual(
    messages.filter((message) => message.startsWith('Not ready')),
    [`Not ready: ${why}`],
  );
});

test('a service that hangs answers 503 within its deadline, and shares one check among all callers', async (t) => {
  let questions = 0;
  const hanging = await startService({
    ...{
      log: silentLog,
      host: '127.0.0.1',
      port: 0,
      routes: [],
      openIdentity: Object.assign(() => null, { whyRefused: () => '' }),
    },
    ready() {
      questions += 1;
      return new Promise(() => undefined);
    },
  });
  t.teardown(() => hanging.close());
  const answers = await within(
    'all are answered',
    Promise.all(Array.from({ length: 20 }, () => readiness(hanging.url))),
  );
  for (const { status, body } of answers) {
    t.is(status, 503);
    t.regex(body.error?.message ?? '', /did not answer within 1500 ms/);
  }
  t.is(questions, 1);
});

test('a gateway that reaches no service is not ready', async (t) => {
  const gateway = await startTestGateway({ dataApiUrls: [nobody], accountsApiUrls: [nobody] });
  t.teardown(() => gateway.close());
  const { status, body } = await readiness(gateway.url);
  t.is(status, 503);
  t.is(body.error?.message, withoutReason);
  t.is((await fetch(`${gateway.url}/healthz`)).status, 200);
});

test('a service names missing migrations or an unreachable database, and the gateway passes both on to its operator', async (t) => {
  const shared = { identitySecret: testIdentitySecret, host: '127.0.0.1', port: 0, log: silentLog };
  const clock = systemClock;
  const lacking = await startDataApi({
    ...{
      ...shared,
      clock,
      databaseUrl: dataApi.databaseUrl,
      seriesTimeZone: 'UTC',
      publicUrl: 'http://localhost',
    },
    schema: [{ name: '999999_later', checksum: 'x' }],
  });
  t.teardown(() => lacking.close());
  const cut = await startAccounts({
    ...{ ...shared, clock, databaseUrl: 'postgres://almanac@127.0.0.1:1/almanac', redisUrl: undefined },
    ...{ plans: projectPlans(), signIn: testSignIn },
  });
  t.teardown(() => cut.close());
  const ofLacking = 'The schema of the database does not fit this version: it lacks 999999_later.';
  for (const [url, why] of [
    [lacking.url, ofLacking],
    [cut.url, 'The database does not respond.'],
  ] as const)
    await until('the reason is there', async () => (await readiness(url)).body.error?.message === why);
  const gateway = await startTestGateway({ dataApiUrls: [lacking.url], accountsApiUrls: [cut.url], metrics });
  t.teardown(() => gateway.close());
  const expected = `No service behind this gateway is ready. data-api: ${ofLacking} accounts-api: The database does not respond.`;
  await until('both have answered in time', async () => {
    const { status, body } = await readiness(gateway.gateway.metricsUrl ?? '');
    return status === 503 && body.error?.message === expected;
  });
  t.pass();
});

test('a gateway with another IDENTITY_SECRET than a service is not ready, and gives its operator the reason', async (t) => {
  const identitySecret = 'another secret of the tests, as long';
  for (const [name, urls] of [
    ['data-api', { dataApiUrls: [dataApi.url], accountsApiUrls: [nobody] }],
    ['accounts-api', { dataApiUrls: [nobody, nobody], accountsApiUrls: [nobody, accounts.url] }],
  ] as const) {
    const gateway = await startTestGateway({ ...urls, identitySecret, metrics });
    t.teardown(() => gateway.close());
    t.is((await readiness(gateway.url)).body.error?.message, withoutReason);
    const { status, body } = await readiness(gateway.gateway.metricsUrl ?? '');
    t.is(status, 503);
    t.is(
      body.error?.message,
      `${name} refuses the identity of this gateway. IDENTITY_SECRET must be the same for both.`,
    );
  }
});

test('anyone may probe a service, but not with an identity that it refuses', async (t) => {
  for (const { url } of [dataApi, accounts]) {
    await until('it is ready', async () => (await readiness(url)).status === 200);
    t.is((await fetch(`${url}/readyz`, { headers: { 'x-almanac-identity': 'forged' } })).status, 401);
    t.is((await fetch(`${url}/readyz`, { headers: { 'x-almanac-identity': '' } })).status, 401);
  }
  const ours = () => fetch(`${dataApi.url}/readyz`, { headers: dataApi.headers('/readyz') });
  await until('it is ready for gateways', async () => (await ours()).status === 200);
});

test('a stopping service serves for DRAIN_DELAY_MS, reports that it is not ready, and closes each connection', async (t) => {
  const shared = {
    identitySecret: testIdentitySecret,
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    drainDelayMs: 3_000,
  };
  const services = [
    await startDataApi({
      ...shared,
      databaseUrl: dataApi.databaseUrl,
      seriesTimeZone: 'UTC',
      publicUrl: 'http://localhost',
      clock: dataApi.clock,
    }),
    await startAccounts({
      ...{ ...shared, databaseUrl: accounts.databaseUrl, plans: projectPlans(), signIn: testSignIn },
      ...{ redisUrl: undefined, clock: accounts.clock },
    }),
  ];
  const closing = services.map((service) => service.close());
  for (const { url } of services) {
    const readiness = await fetch(`${url}/readyz`);
    t.is(readiness.status, 503);
    t.is(
      ((await readiness.json()) as { error: { message: string } }).error.message,
      'This service is stopping.',
    );
    const answer = await fetch(`${url}/healthz`);
    t.is(answer.status, 200);
    t.is(answer.headers.get('connection'), 'close');
  }
  await Promise.all(closing);
  for (const { url } of services) await t.throwsAsync(fetch(`${url}/healthz`));
});
