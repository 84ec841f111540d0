// CORS: pages of any origin may call data endpoints, pages of the dashboard also account endpoints, none with the browser's credentials.
import test from 'ava';
import { publishedDocument } from '../../openapi/published.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { noon, startRecordingUpstream, startTestGateway } from './recording-upstream.ts';

const dashboard = 'https://dashboard.example';
const accounts = await startAccountsService(noon);
const accountsApi = await startRecordingUpstream('accounts-api', accounts.url);
const gateway = await startTestGateway({
  accounts,
  accountsApiUrls: [accountsApi.url],
  dashboardOrigins: [dashboard, 'https://second.example'],
});
const closed = await startTestGateway();
const { key } = await accounts.newClient('enterprise');
test.after.always(async () => {
  await Promise.all([gateway.close(), closed.close()]);
  await accountsApi.close();
  await accounts.close();
});

const preflight = (path: string, origin: string, method = 'GET', url = gateway.url) =>
  fetch(url + path, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': method } });
const accountEndpoints = [
  ['POST', '/v1/keys', 'GET, HEAD, POST'],
  ['DELETE', '/v1/keys/key_1', 'PATCH, DELETE'],
  ['PATCH', '/v1/account', 'GET, HEAD, PATCH, DELETE'],
  ['POST', '/auth/login', 'POST'],
  ['DELETE', '/auth/sessions', 'GET, HEAD, DELETE'],
] as const;

test.serial('pages of any origin may read data and public endpoints, without credentials', async (t) => {
  for (const path of ['/v1/series/A', '/v1/catalog', '/v1/plans']) {
    const answer = await preflight(path, 'https://anybody.example');
    t.is(answer.status, 204);
    t.is(answer.headers.get('access-control-allow-origin'), '*');
    t.is(answer.headers.get('access-control-allow-methods'), 'GET, HEAD');
    t.is(answer.headers.get('access-control-max-age'), '86400', 'a day: no preflight before every call');
    t.is(answer.headers.get('access-control-allow-credentials'), null);
    t.regex(answer.headers.get('access-control-allow-headers') ?? '', /X-API-Key/);
    t.is(
      (await fetch(gateway.url + path)).headers.get('access-control-allow-origin'),
      '*',
      'on a refusal too',
    );
  }
});

test.serial("the dashboard's pages may call account and sign-in endpoints, without cookies", async (t) => {
  for (const [method, path, methods] of accountEndpoints) {
    const answer = await preflight(path, dashboard, method);
    t.is(answer.status, 204, path);
    t.is(answer.headers.get('access-control-allow-origin'), dashboard);
    t.is(answer.headers.get('access-control-allow-methods'), methods);
    t.regex(answer.headers.get('access-control-allow-headers') ?? '', /Content-Type, X-Session-Token/);
    t.is(answer.headers.get('access-control-allow-credentials'), null);
    t.is(answer.headers.get('vary'), 'Origin');
  }
  const headers = { origin: 'https://second.example', 'x-api-key': key };
  const served = await fetch(`${gateway.url}/v1/account`, { headers });
  t.is(served.headers.get('access-control-allow-origin'), 'https://second.example');
  t.regex(served.headers.get('access-control-expose-headers') ?? '', /Retry-After/);
  const refused = await fetch(`${gateway.url}/v1/account`, { headers: { origin: dashboard } });
  t.is(refused.status, 401);
  t.is(refused.headers.get('access-control-allow-origin'), dashboard, 'a page can read why it was refused');
});

/** Headers that browsers always expose to pages, and headers for the browser itself and for caches. */
const notForPages =
  /^(access-control-.*|cache-control|clear-site-data|content-security-policy|last-modified|location|referrer-policy|set-cookie|vary|www-authenticate)$/i;

test.serial('a page can read every relevant header in the OpenAPI document', async (t) => {
  const { components } = publishedDocument() as { components: { headers: object } };
  const meant = Object.keys(components.headers).filter((name) => !notForPages.test(name));
  t.true(meant.length >= 10);
  const answer = await fetch(`${gateway.url}/v1/plans`, { headers: { origin: 'https://anybody.example' } });
  const exposed = answer.headers.get('access-control-expose-headers')?.split(', ') ?? [];
  t.deepEqual(meant.toSorted(), exposed.toSorted());
});

test.serial(
  'a page of any origin can read the errors of unknown addresses and malformed requests',
  async (t) => {
    const origin = 'https://anybody.example';
    const refused = [
      [404, '/v1/nothing', 'GET'],
      [404, '/v1/nothing', 'POST'],
      [405, '/v1/series/A', 'DELETE'],
      [405, '/auth/login', 'GET'],
      [400, '/v1//series', 'GET'],
      [400, '/v1/series/A?API_KEY=x', 'GET'],
      [414, `/v1/series/A?ids=${'x'.repeat(20_000)}`, 'GET'],
    ] as const;
    for (const [status, path, method] of refused) {
      const answer = await fetch(gateway.url + path, { method, headers: { origin } });
      t.is(answer.status, status, path);
      t.is(answer.headers.get('access-control-allow-origin'), '*', path);
      t.regex(answer.headers.get('access-control-expose-headers') ?? '', /X-Request-Id/, path);
      t.is(answer.headers.get('access-control-allow-credentials'), null);
    }
    for (const method of ['GET', 'POST']) {
      const answer = await preflight('/v1/nothing', origin, method);
      t.is(answer.status, 204, 'the page may make the call, to read its 404');
      t.is(answer.headers.get('access-control-allow-origin'), '*');
      t.is(answer.headers.get('access-control-allow-methods'), method);
      t.regex(answer.headers.get('access-control-allow-headers') ?? '', /X-API-Key/);
    }
    t.is((await fetch(`${gateway.url}/v1/nothing`, { method: 'OPTIONS' })).status, 404, 'without a page');
    const other = await preflight('/v1/nothing', origin, 'GET, X');
    t.is(other.status, 404);
  },
);

test.serial('no other origin is allowed, however similar, and no origin is ever echoed', async (t) => {
  for (const origin of [
    'https://evil.example',
    'https://dashboard.example.evil.example',
    'https://evildashboard.example',
    'http://dashboard.example',
    'https://dashboard.example:8443',
    'https://dashboard.example/',
    'HTTPS://DASHBOARD.EXAMPLE',
    'null',
    '*',
  ]) {
    for (const [method, path] of accountEndpoints) {
      const asked = await preflight(path, origin, method);
      const answered = await fetch(gateway.url + path, { method, headers: { origin } });
      for (const { headers } of [asked, answered]) {
        t.is(headers.get('access-control-allow-origin'), null, `${origin} ${path}`);
        t.is(headers.get('access-control-allow-methods'), null);
        t.is(headers.get('vary'), 'Origin');
      }
    }
  }
});

test.serial('if no origin is configured, no foreign page may call an account endpoint', async (t) => {
  for (const [method, path] of accountEndpoints) {
    const answer = await preflight(path, dashboard, method, closed.url);
    t.is(answer.headers.get('access-control-allow-origin'), null);
  }
});

test.serial('a preflight is answered by the gateway, reaches no service and costs nothing', async (t) => {
  const services = () => gateway.dataApi.received.length + accountsApi.received.length;
  const before = services();
  await preflight('/v1/series/A', dashboard);
  await preflight('/v1/keys', dashboard, 'POST');
  t.is(services(), before);
});
