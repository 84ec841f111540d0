import test from 'ava';
import fc from 'fast-check';
import { isNormalPath, extractKeys } from '../../gateway/policies/path-check.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { exchange, lines } from './raw.ts';
import { noon, startRecordingUpstream, startTestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
const accountsApi = await startRecordingUpstream('accounts-api', accounts.url);
const gateway = await startTestGateway({ accounts, accountsApiUrls: [accountsApi.url] });
const { key } = await accounts.newClient('free');
const { key: plainKey } = await accounts.newClient('enterprise');
test.after.always(async () => {
  await gateway.close();
  await accountsApi.close();
  await accounts.close();
});

const tricks = [
  '/v1/series/../keys',
  '/v1/series/..',
  '/v1/series/.',
  '/v1/series/%2e%2e',
  '/v1/series/%2E%2e/keys',
  '/v1/series/.%2e',
  '/v1/series/A%2Fvintages',
  '/v1/series/A%2fvintages',
  '/v1/series/A%5cvintages',
  '/v1/series/A\\vintages',
  '/v1//series/A',
  '//v1/series/A',
  '//evil.example/v1/series/A',
  '/v1/series/A%00',
  '/v1/series/A%0d%0aX: y',
  '/v1/series/%E0%A4%A',
  '/v1/series/%',
  '/v1/series/%zz',
  '/v1/series/%C0%AE',
  '/v1/series/%C0%AF..%C0%AFkeys',
  '/v1/series/%E2%28%A1',
  '/v1/series/%u002e%u002e',
  '/v1/series/..%2fkeys',
  '/v1/series/A/..%2e/keys',
  '/v1/series/%2e%2e%2fkeys',
  '/v1/series/A%0a',
  '/v1/series/A%09B',
  '/v1/series/A%7f',
  '/v1/series/<A>',
  '/v1/series/A"B',
  '/v1/./series/A',
  '/v1/series/A/.',
  '/v1/series/A//latest',
  '/v1/securities/..%2F..%2Fkeys/prices',
  '/v1/securities/A%5CB/prices',
  '/v1/securities/A%2F%2FB/prices',
  '/v1/securities/A%2F/prices',
  '/v1/securities/%2FA/prices',
  'https://127.0.0.1/v1/series/A',
  'v1/series/A',
  '?/v1/series/A',
  '/v1/series/A#B',
  '/v1/series/\xc3\xa9',
  '/v1/funds/A%2Fnav',
  'http://evil.example/v1/series/A',
  '*',
];

for (const path of tricks) {
  test.serial(`${JSON.stringify(path)} is refused as malformed and reaches no service`, async (t) => {
    const before = gateway.dataApi.received.length;
    const [answer] = await exchange(
      gateway.url,
      lines(`GET ${path} HTTP/1.1`, 'Host: a', 'Connection: close', `X-API-Key: ${key}`),
    );
    t.is(answer?.status, 400);
    t.regex(answer?.body ?? '', /^\{"success":false,"error":\{"code":"invalid_request"/);
    t.is(gateway.dataApi.received.length, before);
  });
}

const unmapped = [
  '/v1',
  '/v1/seriesX',
  '/v1/series/',
  '/v1/series/A/',
  '/v1/series/A/latest/more',
  '/V1/series/A',
  '/v1/Series/A',
  '/v1/series/A/VINTAGES',
  '/v1/catalog/A/B',
  '/v1/%73eries/A',
  '/v2/series/A',
  '/auth',
  '/authX',
  '/internal/sessions',
  '/internal/heartbeat',
  '/metrics',
  '/admin',
];

for (const path of unmapped) {
  test.serial(`${path} is not found and reaches no service`, async (t) => {
    const before = gateway.dataApi.received.length + accountsApi.received.length;
    for (const method of ['GET', 'POST']) {
      const response = await fetch(gateway.url + path, { method, headers: { 'x-api-key': key } });
      t.is(response.status, 404);
      t.is(((await response.json()) as { error: { code: string } }).error.code, 'not_found');
    }
    t.is(gateway.dataApi.received.length + accountsApi.received.length, before);
  });
}

test.serial(
  'who writes a slash too many after a path is answered that there is one without it',
  async (t) => {
    const messageOf = async (path: string) =>
      ((await (await fetch(gateway.url + path)).json()) as { error: { message: string } }).error.message;
    t.is(await messageOf('/v1/series/A/'), 'No endpoint exists at this path. Remove the trailing slash.');
    t.is(await messageOf('/v1/nothing/'), 'No endpoint exists at this path.');
  },
);

test.serial('a method that a path does not support is 405 with Allow', async (t) => {
  const cases = [
    ['POST', '/v1/series/A', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/account', 'GET, HEAD, PATCH, DELETE, OPTIONS'],
    ['GET', '/v1/keys/1', 'PATCH, DELETE, OPTIONS'],
    ['DELETE', '/v1/plans', 'GET, HEAD, OPTIONS'],
    ['PUT', '/v1/keys', 'GET, HEAD, POST, OPTIONS'],
    ['OPTIONS', '/healthz', 'GET, HEAD'],
  ] as const;
  for (const [method, path, allow] of cases) {
    const response = await fetch(gateway.url + path, { method });
    t.is(response.status, 405, path);
    t.is(response.headers.get('allow'), allow);
    t.is(((await response.json()) as { error: { code: string } }).error.code, 'method_not_allowed');
  }
});

test.serial(
  'a double-encoded, or unusual but unambiguous, URL is forwarded byte for byte to the path it was matched with',
  async (t) => {
    for (const path of [
      '/v1/series/%252e%252e',
      '/v1/series/%252Fkeys',
      '/v1/series/%41%20b',
      '/v1/series/A;b=c',
      '/v1/series/A@b:c',
      '/v1/series/A|B',
      '/v1/series/%C3%A9',
      '/v1/series/...',
    ]) {
      const [answer] = await exchange(
        gateway.url,
        lines(`GET ${path}?a=%2e%2e HTTP/1.1`, 'Host: a', 'Connection: close', `X-API-Key: ${plainKey}`),
      );
      t.is(answer?.status, 200, path);
      t.is(gateway.dataApi.received.at(-1)?.url, `${path}?a=%2e%2e`);
    }
  },
);

test.serial('the code of a security may contain an encoded slash', async (t) => {
  const response = await fetch(`${gateway.url}/v1/securities/HBL%2FTFC%2F190216/prices`, {
    headers: { 'x-api-key': key },
  });
  t.is(response.status, 200);
  t.is(gateway.dataApi.received.at(-1)?.url, '/v1/securities/HBL%2FTFC%2F190216/prices');
});

test.serial('HEAD works wherever GET does, and costs the same', async (t) => {
  const response = await fetch(`${gateway.url}/v1/series/A`, {
    method: 'HEAD',
    headers: { 'x-api-key': key },
  });
  t.is(response.status, 200);
  t.is(await response.text(), '');
  t.is(gateway.dataApi.received.at(-1)?.method, 'HEAD');
  t.is(response.headers.get('x-quota-reset'), '2026-12-01T00:00:00Z');
});

test('an accepted path is parsed alike by the URL standard, and decodes to as many segments', (t) => {
  const piece = fc.constantFrom(
    '/',
    '.',
    '..',
    '%2e',
    '%2F',
    '%5c',
    '\\',
    'a',
    'v1',
    '%41',
    '%00',
    '%',
    ';',
    '@',
    ':',
    '~',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const path = `/${pieces.join('')}`;
      if (!isNormalPath(path)) return;
      t.is(new URL(path, 'http://gateway').pathname, path);
      t.is(decodeURIComponent(path).split('/').length, path.split('/').length);
    }),
    { numRuns: 2_000 },
  );
});

test('every spelling of api_key is removed from a query, and nothing else is', (t) => {
  const spelled = fc.constantFrom(
    'api_key',
    'API_KEY',
    'api%5Fkey',
    '%61pi_key',
    'Api_Key',
    '?api_key',
    '+api_key',
    'api_key%0A',
  );
  const other = fc.constantFrom('from=2024', 'apikey=1', 'a=b', 'api_key2=x', '?from=2024', 'q', '');
  const pair = fc.oneof(
    spelled.map((name) => ({ text: `${name}=secret`, isKey: true })),
    other.map((text) => ({ text, isKey: false })),
  );
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 6 }), (pairs) => {
      const { query, keys, misspelled } = extractKeys(pairs.map(({ text }) => text).join('&'));
      t.notRegex(query, /secret/);
      const isExact = ({ text }: { text: string }) => /^\??(?:api_key|api%5Fkey|%61pi_key)=/.test(text);
      t.is(keys.length, pairs.filter(isExact).length);
      t.is(
        misspelled !== undefined,
        pairs.some((each) => each.isKey && !isExact(each)),
      );
      t.is(
        query,
        pairs
          .filter(({ isKey }) => !isKey)
          .map(({ text }) => text)
          .join('&'),
      );
    }),
  );
});
