import { mintApiKey } from '../../kernel/credentials/api-key.ts';
import test from 'ava';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { revokeKey } from '../../accounts-api/operator/operator.ts';
import { createLog } from '../../kernel/log/log.ts';
import { projectRoot } from '../../kernel/project.ts';
import { isFredPath } from '../../kernel/wire/error-form.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { exchange, lines } from './raw.ts';
import { noon, startRecordingUpstream, startTestGateway } from './recording-upstream.ts';

let logged = '';
const log = createLog('gateway', 'trace', { write: (line) => void (logged += line) });
const accounts = await startAccountsService(noon);
const accountsApi = await startRecordingUpstream('accounts-api', accounts.url);
const gateway = await startTestGateway({ accounts, accountsApiUrls: [accountsApi.url], log });
const { accountId, key } = await accounts.newClient('enterprise');
const other = await accounts.newClient('enterprise');
test.after.always(async () => {
  await gateway.close();
  await accountsApi.close();
  await accounts.close();
});

const reached = () => gateway.dataApi.received.length + accountsApi.received.length;

async function errorOf(response: Response) {
  const body = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, ...body.error };
}

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

/** The headers of an answer to headers that `fetch` would not send. */
async function rawHeaders(first: string, headers: Record<string, string>) {
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const [answer] = await exchange(gateway.url, lines(first, 'Host: a', 'Connection: close', ...own));
  return answer?.headers ?? '';
}

const routeFile = parse(readFileSync(path.join(projectRoot, 'config/gateway.config.yml'), 'utf8')) as {
  apiEndpoints: Record<
    string,
    { methods: string[]; paths: string[] } | { methods: string[]; paths: string[] }[]
  >;
  pipelines: Record<string, { apiEndpoints: string[]; policies: Record<string, unknown>[] }>;
};

for (const [name, pipeline] of Object.entries(routeFile.pipelines)) {
  const step = pipeline.policies.find((each) => 'credential' in each) as
    { credential: { action: { optional?: boolean } } } | undefined;
  if (step === undefined) continue;
  const withoutKey = step.credential.action.optional === true ? [] : [{}];
  const routes = pipeline.apiEndpoints
    .flatMap((endpoint) => routeFile.apiEndpoints[endpoint] ?? [])
    .flatMap(({ methods, paths }) => paths.flatMap((at) => methods.map((method) => ({ method, at }))))
    .filter(({ method }) => method !== 'OPTIONS');
  test.serial(
    `every endpoint of the pipeline "${name}" answers 401 without a valid key and asks no service`,
    async (t) => {
      t.true(routes.length > 0);
      const before = reached();
      for (const { method, at } of routes) {
        const url = gateway.url + at.replace(/:\w+/g, 'x').replace('*', 'x');
        for (const headers of [
          ...withoutKey,
          { 'x-api-key': 'pk_live_nonsense' },
          { 'x-api-key': mintApiKey() },
        ]) {
          const answer = await fetch(url, { method, headers });
          t.is(answer.status, 401, `${method} ${at}`);
          if (at.startsWith('/fred/v2/')) t.like(await answer.json(), { error_code: 401 });
          else if (isFredPath(at)) t.regex(await answer.text(), /<error code="401" message="/);
          else t.is((await errorOf(answer)).code, 'unauthorized');
        }
      }
      t.is(reached(), before);
    },
  );
}

test.serial(
  'data and account endpoints accept the key in X-API-Key, as a bearer token or as the parameter',
  async (t) => {
    for (const at of ['/v1/series/A', '/v1/usage']) {
      t.is((await fetch(gateway.url + at, { headers: { 'x-api-key': key } })).status, 200);
      for (const scheme of ['Bearer', 'bearer'])
        t.is((await fetch(gateway.url + at, { headers: { authorization: `${scheme} ${key}` } })).status, 200);
      const both = { 'x-api-key': key, authorization: `Bearer ${key}` };
      t.is((await fetch(gateway.url + at, { headers: both })).status, 200);
      // Credentials for somebody else, such as a proxy, are ignored.
      t.is(
        (await fetch(gateway.url + at, { headers: { ...both, authorization: basic('x:y') } })).status,
        200,
      );
      t.is((await fetch(gateway.url + at, { headers: { authorization: `Basic ${key}` } })).status, 401);
      t.is((await fetch(`${gateway.url}${at}?api_key=${key}`)).status, 200);
      t.is(
        (await fetch(`${gateway.url}${at}?api_key=${key}`, { headers: { 'x-api-key': key } })).status,
        200,
      );
    }
  },
);

test.serial('Basic authentication accepts the key as user name or as password', async (t) => {
  const ask = (authorization: string, at = '/v1/series/A') =>
    fetch(gateway.url + at, { headers: { authorization } });
  for (const at of ['/v1/series/A', '/v1/usage']) {
    for (const given of [`${key}:`, `:${key}`, `user:${key}`, `${key}:x`, key, `${key}:${key}`])
      t.is((await ask(basic(given), at)).status, 200, given.replaceAll(key, 'KEY'));
  }
  t.is((await ask(basic(`${key}:`).replace('Basic', 'basic'))).status, 200);
  for (const given of ['', ':', 'user:password', `${key}:${other.key}`, `${key.slice(0, -1)}:`, `a:${key}:b`])
    t.like(await errorOf(await ask(basic(given))), { status: 401, code: 'unauthorized' });
  t.like(await errorOf(await ask(basic(`:${mintApiKey()}`))), {
    message: 'The API key is unknown or was revoked.',
  });
});

test.serial('a client gets a challenge for Basic authentication, a script of a page does not', async (t) => {
  const challenge = async (headers: Record<string, string> = {}, at = '/v1/series/A') =>
    /^www-authenticate: (.*)$/im.exec(await rawHeaders(`GET ${at} HTTP/1.1`, headers))?.[1]?.trim();
  const both = 'ApiKey, Basic realm="Almanac", charset="UTF-8"';
  t.is(await challenge(), both);
  t.is(await challenge({ 'X-API-Key': mintApiKey() }), both);
  t.is(await challenge({ 'Sec-Fetch-Mode': 'navigate' }), both);
  for (const mode of ['cors', 'no-cors', 'same-origin'])
    t.is(await challenge({ 'Sec-Fetch-Mode': mode }), 'ApiKey');
  t.is(await challenge({ 'X-Session-Token': 'a session' }, '/v1/usage'), 'ApiKey');
});

test.serial(
  'api_key in another case is an unknown parameter, and is still removed from the URL',
  async (t) => {
    const before = reached();
    for (const at of [
      `/v1/series/A?API_KEY=${key}`,
      `/v1/series/A?Api%5Fkey=${key}&api_key=${key}`,
      `/v1/catalog?aPI_KEY=${key}`,
    ]) {
      const error = await errorOf(await fetch(gateway.url + at));
      t.like(error, { status: 400, code: 'invalid_parameter' });
      t.regex(error.message, /case-sensitive\. Did you mean "api_key"\?$/);
    }
    t.is(reached(), before);
  },
);

test.serial('blanks and line ends around a key are ignored, in the query as in a header', async (t) => {
  for (const given of [`${key}%0A`, `${key}%0D%0A`, `%20${key}+`, `%09${key}%09`]) {
    t.is((await fetch(`${gateway.url}/v1/series/A?api_key=${given}`)).status, 200, given);
    const both = await fetch(`${gateway.url}/v1/series/A?api_key=${given}`, {
      headers: { 'x-api-key': `  ${key} ` },
    });
    t.is(both.status, 200, 'it is the same key');
  }
  for (const given of [
    '',
    '%20',
    '%0A',
    `${key.slice(0, 20)}%20${key.slice(20)}`,
    `${key}%C2%A0`,
    `${key}%00`,
  ])
    t.is((await fetch(`${gateway.url}/v1/series/A?api_key=${given}`)).status, 401, given);
});

test.serial('the key of one account never identifies another', async (t) => {
  await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } });
  t.is(gateway.dataApi.received.at(-1)?.identity?.accountId, accountId);
  await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': other.key } });
  t.is(gateway.dataApi.received.at(-1)?.identity?.accountId, other.accountId);
});

test.serial('two different keys in one request are refused', async (t) => {
  for (const [query, headers] of [
    [`?api_key=${other.key}`, { 'x-api-key': key }],
    [`?api_key=${other.key}`, { authorization: `Bearer ${key}` }],
    ['', { 'x-api-key': key, authorization: `Bearer ${other.key}` }],
    ['', { 'x-api-key': key, authorization: 'Bearer mistyped' }],
    ['', { 'x-api-key': key, authorization: basic(`:${other.key}`) }],
  ] as const) {
    const response = await fetch(`${gateway.url}/v1/series/A${query}`, { headers });
    t.like(await errorOf(response), { status: 401, code: 'unauthorized' });
  }
});

test.serial('a credential given twice is refused, even if both are the same', async (t) => {
  const twice = [
    ['/v1/series/A', `X-API-Key: ${key}`, `X-API-Key: ${key}`],
    [`/v1/series/A?api_key=${key}&api_key=${key}`, 'A: b', 'C: d'],
    [`/v1/series/A?api_key=${key}&api%5Fkey=${key}`, 'A: b', 'C: d'],
    ['/v1/series/A', `Authorization: Bearer ${key}`, `Authorization: Bearer ${key}`],
    ['/v1/usage', 'X-Session-Token: a', 'X-Session-Token: a'],
  ] as const;
  for (const [at, first, second] of twice) {
    const [answer] = await exchange(
      gateway.url,
      lines(`GET ${at} HTTP/1.1`, 'Host: a', 'Connection: close', first, second),
    );
    t.is(answer?.status, 401, at);
  }
});

test.serial(
  'a key and a session in one request are refused, as they may belong to different accounts',
  async (t) => {
    const before = reached();
    const response = await fetch(`${gateway.url}/v1/usage`, {
      headers: { 'x-api-key': key, 'x-session-token': 'a session' },
    });
    const error = await errorOf(response);
    t.like(error, { status: 401, code: 'unauthorized' });
    t.regex(error.message, /not both/);
    t.is(reached(), before);
  },
);

test.serial('sign-in endpoints refuse a key or two sessions, and no service is called', async (t) => {
  const before = reached();
  const ask = (...text: string[]) => exchange(gateway.url, lines(...text, 'Host: a', 'Connection: close'));
  for (const [status, answers] of [
    [403, await ask('GET /auth/sessions HTTP/1.1', `X-API-Key: ${key}`)],
    [403, await ask(`GET /auth/sessions?api_key=${key} HTTP/1.1`)],
    [403, await ask('GET /auth/sessions HTTP/1.1', `Authorization: Bearer ${key}`)],
    [401, await ask('GET /auth/sessions HTTP/1.1', 'X-Session-Token: a', 'X-Session-Token: b')],
  ] as const) {
    t.is(answers[0]?.status, status);
  }
  t.is(reached(), before);
});

test.serial('a session gives no access to a data endpoint', async (t) => {
  const response = await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-session-token': 'a session' } });
  t.is(response.status, 401);
});

test.serial('a revoked key is refused on the next request', async (t) => {
  const revoked = await accounts.newClient('enterprise');
  const call = () => fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': revoked.key } });
  t.is((await call()).status, 200);
  await revokeKey(accounts.deps, revoked.keyId);
  t.is((await call()).status, 401);
});

test.serial('a key never reaches a URL or a header of a service, nor the log', async (t) => {
  const calls: [string, string, string][] = [
    ['GET', `/v1/series/A?from=2024&api_key=${key}&to=2025`, ''],
    ['GET', `/v1/series/A?api%5fkey=${key}`, ''],
    ['GET', `/v1/catalog?api_key=${key}`, ''],
    ['GET', `/v1/usage?API_KEY=${key}`, ''],
    ['GET', `/v1/nothing?api_key=${key}`, ''],
    ['GET', `/v1/series/..?api_key=${key}`, ''],
    ['GET', `/v1/series/${key}`, ''],
    ['GET', '/v1/series/A', key],
    ['DELETE', `/v1/webhooks?id=1&api_key=${key}`, key],
  ];
  const first = reached();
  for (const [method, at, header] of calls) {
    await fetch(gateway.url + at, { method, ...(header !== '' && { headers: { 'x-api-key': header } }) });
  }
  for (const at of ['/v1/series/A', '/v1/catalog', '/auth/sessions', '/v1/nothing'])
    for (const authorization of [`Bearer ${key}`, basic(`:${key}`)])
      await fetch(gateway.url + at, { headers: { authorization } });
  t.true(reached() > first);
  for (const { url, headers } of [...gateway.dataApi.received, ...accountsApi.received]) {
    t.false(JSON.stringify([url, headers]).includes(key), url);
  }
  t.is(accountsApi.received.at(-1)?.url, '/v1/webhooks?id=1');
  t.regex(logged, /"path":"\/v1\/series\/A"/);
  t.false(logged.includes(key));
  t.false(logged.includes(basic(`:${key}`)));
  t.false(logged.includes(key.slice(8)));
});

test.serial('if accounts-api is unavailable, a call is 503, never 401', async (t) => {
  const alone = await startTestGateway(); // without an accounts-api
  t.teardown(() => alone.close());
  const response = await fetch(`${alone.url}/v1/series/A`, { headers: { 'x-api-key': key } });
  t.like(await errorOf(response), { status: 503, code: 'unavailable' });
  t.is(response.headers.get('retry-after'), '1');
});
