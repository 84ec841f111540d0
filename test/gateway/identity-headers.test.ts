import test from 'ava';
import { createSealer, identityHeader } from '../../kernel/identity.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { testIdentitySecret } from '../services/harness.ts';
import { exchange, lines } from './raw.ts';
import { noon, startTestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
const gateway = await startTestGateway({ accounts });
const { accountId, key } = await accounts.newClient('enterprise');
test.after.always(async () => {
  await gateway.close();
  await accounts.close();
});

// The strongest forgery: a token that the services would accept.
const forged = createSealer(testIdentitySecret, 'data-api')(
  {
    scope: 'client',
    accountId: 'somebody else',
    keyId: 'a key of theirs',
    keyHash: null,
    sessionId: null,
    plan: 'enterprise',
    features: ['vintages'],
    operator: true,
    asOf: null,
  },
  'GET',
  '/v1/series/A',
);

const spellings = [
  'x-almanac-identity',
  'X-Almanac-Identity',
  'X-ALMANAC-IDENTITY',
  'x_almanac_identity',
  'X_Almanac-Identity',
  'x-almanac_identity',
];

function callWith(headers: string[]) {
  return exchange(
    gateway.url,
    lines('GET /v1/series/A HTTP/1.1', 'Host: a', 'Connection: close', `X-API-Key: ${key}`, ...headers),
  );
}

const padding = (count: number) => Array.from({ length: count }, (_, i) => `${i.toString(36)}: b`);

for (const name of spellings) {
  test.serial(
    `a client's own ${name} never reaches a service, first header or behind 500 others`,
    async (t) => {
      for (const count of [0, 500]) {
        const [answer] = await callWith([...padding(count), `${name}: ${forged}`]);
        t.is(answer?.status, 200);
        const received = gateway.dataApi.received.at(-1);
        t.is(received?.identity?.accountId, accountId);
        t.deepEqual(
          received?.headerNames.filter((header) => /almanac/i.test(header)),
          [identityHeader],
        );
      }
    },
  );
}

test.serial('a thousand headers with a forged identity last are refused whole', async (t) => {
  const before = gateway.dataApi.received.length;
  const [answer] = await callWith([...padding(1_000), `x-almanac-identity: ${forged}`]);
  t.is(answer?.status, 431);
  t.is(gateway.dataApi.received.length, before);
});

test.serial(
  'after 990 headers, the most that are accepted, a forged identity is still removed',
  async (t) => {
    const [answer] = await callWith([
      ...padding(990),
      `X-Almanac_Identity: ${forged}`,
      `x-almanac-identity: ${forged}`,
    ]);
    t.is(answer?.status, 200);
    const received = gateway.dataApi.received.at(-1);
    t.is(received?.identity?.accountId, accountId);
    t.deepEqual(
      received?.headerNames.filter((header) => /almanac/i.test(header)),
      [identityHeader],
    );
  },
);

test.serial('on a public endpoint a forged identity leaves the caller anonymous', async (t) => {
  await fetch(`${gateway.url}/v1/catalog`, { headers: { 'x-almanac-identity': forged } });
  t.is(gateway.dataApi.received.at(-1)?.identity?.accountId, null);
});

test.serial('naming the identity header in Connection does not remove it', async (t) => {
  const [answer] = await exchange(
    gateway.url,
    lines(
      'GET /v1/series/A HTTP/1.1',
      'Host: a',
      `X-API-Key: ${key}`,
      'Connection: close, x-almanac-identity',
    ),
  );
  t.is(answer?.status, 200);
  t.is(gateway.dataApi.received.at(-1)?.identity?.accountId, accountId);
});

test.serial('the IP address and request id that a client claims are not passed on', async (t) => {
  await fetch(`${gateway.url}/v1/catalog`, {
    headers: {
      'x-forwarded-for': '6.6.6.6',
      forwarded: 'for=6.6.6.6',
      'x-real-ip': '6.6.6.6',
      'x-request-id': 'mine',
    },
  });
  const received = gateway.dataApi.received.at(-1);
  t.is(received?.headers['x-forwarded-for'], '127.0.0.1');
  t.is(received?.headers.forwarded, undefined);
  t.is(received?.headers['x-real-ip'], undefined);
  t.not(received?.headers['x-request-id'], 'mine');
});

test.serial('a well-formed traceparent is forwarded, any other is not', async (t) => {
  const good = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await fetch(`${gateway.url}/v1/catalog`, { headers: { traceparent: good, tracestate: 'a=1' } });
  t.is(gateway.dataApi.received.at(-1)?.headers['traceparent'], good);
  t.is(gateway.dataApi.received.at(-1)?.headers['tracestate'], 'a=1');
  await fetch(`${gateway.url}/v1/catalog`, { headers: { traceparent: 'mine', tracestate: 'a=1' } });
  t.is(gateway.dataApi.received.at(-1)?.headers['traceparent'], undefined);
  t.is(gateway.dataApi.received.at(-1)?.headers['tracestate'], undefined);
});

test.serial('whatever a target may hold, the service finds the identity bound to it', async (t) => {
  const targets = [
    'GET /v1/series/A?from=2020&dims=side%3abuy&dims=a|b',
    'HEAD /v1/series/A?x=%E2%82%AC&y=%zz',
    'GET /v1/series/A?',
    "GET /v1/series/A?q='(a)*~!$;@:,/?&&=",
    `GET /v1/series/A?limit=3&api_key=${key}&sort=desc`,
    'GET /v1/catalog?q=a%20b+c',
  ];
  for (const line of targets) {
    const before = gateway.dataApi.received.length;
    await exchange(
      gateway.url,
      lines(`${line} HTTP/1.1`, 'Host: a', 'Connection: close', `X-API-Key: ${key}`),
    );
    const received = gateway.dataApi.received.slice(before);
    t.is(received.length, 1, line);
    t.is(received[0]?.identity?.scope, 'client', line);
  }
});

test.serial('accounts-api finds the identity bound to whatever write the gateway forwards', async (t) => {
  const ask = (target: string) => {
    const request = [`POST ${target} HTTP/1.1`, 'Host: a', 'Connection: close', `X-API-Key: ${key}`];
    return exchange(
      gateway.url,
      lines(...request, 'Content-Type: application/json', 'Content-Length: 2') + '{}',
    );
  };
  for (const query of ["?q='(a)*~!$;@:,/?&&=", '?x=%E2%82%AC&y=%zz', '?%7e'])
    t.is((await ask(`/v1/keys${query}`))[0]?.status, 400, 'refused for its query, not for its identity');
  t.is((await ask('/v1/keys?'))[0]?.status, 400, 'refused for its body');
});
