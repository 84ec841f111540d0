import test from 'ava';
import { exchange, lines } from './raw.ts';
import { startTestGateway } from './recording-upstream.ts';

const hsts = /^strict-transport-security: max-age=31536000\r?$/im;
const close = ['Host: a', 'Connection: close'];
const requests: Record<string, string> = {
  'a served call': lines('GET /v1/catalog HTTP/1.1', ...close),
  'a failure': lines('GET /nowhere HTTP/1.1', ...close),
  'a sign-in without its service': lines('POST /auth/login HTTP/1.1', ...close),
  'a probe': lines('GET /healthz HTTP/1.1', ...close),
  'an unknown expectation': lines('GET /v1/catalog HTTP/1.1', 'Expect: more', ...close),
  'no HTTP': 'HELLO mail\r\n\r\n',
  'a long URL': lines(`GET /${'a'.repeat(20_000)} HTTP/1.1`, ...close),
  CONNECT: lines('CONNECT a:443 HTTP/1.1', ...close),
};

test('if PUBLIC_URL is https every answer requires HTTPS, whatever the proxy states', async (t) => {
  const gateway = await startTestGateway({ publicUrl: 'https://almanac.example' });
  t.teardown(() => gateway.close());
  for (const [what, request] of Object.entries(requests)) {
    const [answer] = await exchange(gateway.url, request);
    t.regex(answer?.headers ?? '', hsts, what);
  }
  t.is(gateway.dataApi.received[0]?.headers['x-forwarded-proto'], 'https');
});

test('if PUBLIC_URL is http no answer requires HTTPS, unless a trusted proxy has terminated TLS', async (t) => {
  for (const [trustedProxyHops, expected] of [
    [0, false],
    [1, true],
  ] as const) {
    const gateway = await startTestGateway({ publicUrl: 'http://127.0.0.1:8080', trustedProxyHops });
    t.teardown(() => gateway.close());
    for (const [what, request] of Object.entries(requests)) {
      const [answer] = await exchange(gateway.url, request);
      t.notRegex(answer?.headers ?? '', hsts, what);
    }
    const proxied = lines(
      'GET /v1/catalog HTTP/1.1',
      ...close,
      'X-Forwarded-Proto: http',
      'X-Forwarded-Proto: HTTPS',
    );
    const [answer] = await exchange(gateway.url, proxied);
    t.is(hsts.test(answer?.headers ?? ''), expected);
    t.is(gateway.dataApi.received.at(-1)?.headers['x-forwarded-proto'], expected ? 'https' : 'http');
  }
});
