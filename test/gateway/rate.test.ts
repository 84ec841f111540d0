import test from 'ava';
import { createClient } from 'redis';
import { createKey, revokeKey } from '../../accounts-api/operator/operator.ts';
import { mintApiKey } from '../../kernel/credentials/api-key.ts';
import { mintSessionToken } from '../../kernel/credentials/session-token.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { silentLog, testRedisUrl } from '../services/harness.ts';
import { limitedBySecond, projectPlans } from '../services/services.ts';
import { newEmail, newPassword } from '../services/sign-in.ts';
import { until } from '../run/until.ts';
import { closedOnce, noon, startRecordingUpstream, startTestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon, silentLog, { redisUrl: testRedisUrl() });
test.after.always(() => accounts.close());

/** The session of a new account. */
async function newSession(url: string): Promise<string> {
  const answer = await fetch(`${url}/auth/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: newEmail(), password: newPassword() }),
  });
  return ((await answer.json()) as { data: { session_token: string } }).data.session_token;
}

// Run one after the other: without Redis, a gateway allows only its share of the limits, which is all of them only while no other gateway runs.
const places = [
  ['in one process', undefined],
  ['through Redis', testRedisUrl()],
] as const;
for (const [name, redisUrl] of places) {
  test.serial(`calls beyond the plan's rate are 429 with Retry-After, ${name}`, async (t) => {
    const plans = limitedBySecond(projectPlans());
    const gateway = await startTestGateway({ accounts, redisUrl, plans });
    t.teardown(() => gateway.close());
    const { key } = await accounts.newClient('free');
    const other = await accounts.newClient('free');
    const get = (apiKey: string) => fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': apiKey } });
    const responses = await Promise.all(Array.from({ length: 40 }, () => get(key)));
    const [refused = new Response()] = responses.filter(({ status }) => status === 429);
    t.is(refused.status, 429);
    t.is(refused.headers.get('retry-after'), '1');
    t.is(refused.headers.get('ratelimit-policy'), '"second";q=5;w=1');
    t.is(refused.headers.get('ratelimit'), '"second";r=0;t=1');
    t.is(((await refused.json()) as { error: { code: string } }).error.code, 'rate_limited');
    t.is((await get(other.key)).status, 200);
  });

  test.serial(
    `while data calls of an account are refused, eight management calls at once are served, ${name}`,
    async (t) => {
      const gateway = await startTestGateway({ accounts, redisUrl, managementCallsPerSecond: 20 });
      t.teardown(() => gateway.close());
      const { key } = await accounts.newClient('free');
      const session = await newSession(gateway.url);
      const get = (path: string, headers: Record<string, string>) => fetch(gateway.url + path, { headers });
      const times = (count: number, path: string, headers: Record<string, string>) =>
        Promise.all(Array.from({ length: count }, () => get(path, headers)));
      const [data, byKey, bySession] = await Promise.all([
        times(40, '/v1/series/A', { 'x-api-key': key }),
        times(8, '/v1/usage', { 'x-api-key': key }),
        times(8, '/v1/account', { 'x-session-token': session }),
      ]);
      t.true(data.some(({ status }) => status === 429));
      t.deepEqual(new Set([...byKey, ...bySession].map(({ status }) => status)), new Set([200]));
      t.is(bySession[0]?.headers.get('ratelimit-policy'), '"second";q=20;w=1');
    },
  );

  test.serial(
    `a key that exhausts its management limit does not affect other keys, and can revoke itself, ${name}`,
    async (t) => {
      const gateway = await startTestGateway({ accounts, redisUrl, managementCallsPerSecond: 3 });
      t.teardown(() => gateway.close());
      const leaked = await accounts.newClient('free');
      const other = await createKey(accounts.deps, leaked.accountId, 'other');
      const call = (path: string, key: string, method = 'GET') =>
        fetch(gateway.url + path, { method, headers: { 'x-api-key': key } });
      const flood = Array.from({ length: 40 }, () => call('/v1/keys', leaked.key));
      const revocation = call(`/v1/keys/${leaked.keyId}`, leaked.key, 'DELETE');
      const ofOther = await Promise.all([1, 2].map(() => call('/v1/keys', other.key)));
      t.deepEqual(
        ofOther.map(({ status }) => status),
        [200, 200],
      );
      const revoked = await revocation;
      t.is(revoked.status, 204);
      const [refused] = (await Promise.all(flood)).filter(({ status }) => status === 429);
      t.is(refused?.headers.get('retry-after'), '1');
      t.regex(
        await (refused ?? new Response()).text(),
        /the limit for managing an account with one key or session is 3 a second/,
      );
    },
  );

  test.serial(
    `/readyz has a limit per client IP separate from public endpoints, and /healthz has none, ${name}`,
    async (t) => {
      const gateway = await startTestGateway({
        accounts,
        redisUrl,
        publicCallsPerSecond: 3,
        trustedProxyHops: 1,
      });
      t.teardown(() => gateway.close());
      const address = `2001:db8:${Math.floor(Math.random() * 65_536).toString(16)}::1`;
      const statusesOf = async (path: string, calls: number) => {
        const headers = { 'x-forwarded-for': address };
        const answers = Array.from({ length: calls }, () => fetch(gateway.url + path, { headers }));
        return new Set((await Promise.all(answers)).map(({ status }) => status));
      };
      const [readiness, liveness] = await Promise.all([
        statusesOf('/readyz', 40),
        statusesOf('/healthz', 40),
      ]);
      t.true(readiness.has(429)); // those within the limit are 503 if the machine is too busy for a probe
      t.deepEqual([...liveness], [200]);
      const ofPublic = await fetch(`${gateway.url}/v1/catalog`, { headers: { 'x-forwarded-for': address } });
      t.is(ofPublic.headers.get('ratelimit'), '"second";r=2;t=1');
    },
  );

  test.serial(`public and auth endpoints are limited by client IP, ${name}`, async (t) => {
    const gateway = await startTestGateway({
      accounts,
      redisUrl,
      publicCallsPerSecond: 3,
      trustedProxyHops: 1,
    });
    t.teardown(() => gateway.close());
    const client = `2001:db8:${Math.floor(Math.random() * 65_536).toString(16)}:1::`;
    const get = (path: string, host: string, method = 'GET') =>
      fetch(gateway.url + path, { method, headers: { 'x-forwarded-for': `6.6.6.6, ${client}${host}` } });
    const startedAtMs = performance.now();
    const responses = await Promise.all([
      ...Array.from({ length: 20 }, (_, i) => get('/v1/catalog', (i + 1).toString(16))),
      ...Array.from({ length: 20 }, (_, i) => get('/auth/login', (i + 1).toString(16), 'POST')),
    ]);
    // On a busy machine a burst may span several seconds.
    const windows = Math.floor((performance.now() - startedAtMs) / 1000) + 2;
    const allowed = responses.filter(({ status }) => status !== 429).length;
    t.true(allowed >= 3 && allowed <= 3 * windows, `${allowed} in ${windows} windows`);
    t.is(
      (await fetch(`${gateway.url}/v1/catalog`, { headers: { 'x-forwarded-for': '192.0.2.77' } })).status,
      200,
    );
  });
}

test.serial('a gateway that closes passes its calls of this second on, through Redis', async (t) => {
  const gateway = await startTestGateway({ accounts, redisUrl: testRedisUrl() });
  const { accountId, key } = await accounts.newClient('free');
  const [redis, monitor] = [createClient({ url: testRedisUrl() }), createClient({ url: testRedisUrl() })];
  t.teardown(() => [redis, monitor].forEach((client) => client.destroy()));
  await Promise.all([redis.connect(), monitor.connect()]);
  const commands: string[] = [];
  await monitor.monitor((command) => commands.push(command));
  t.is((await fetch(`${gateway.url}/v1/series/A`, { headers: { 'x-api-key': key } })).status, 200);
  await gateway.close();
  await redis.echo('closed');
  await until('all commands are seen', () => commands.some((command) => command.endsWith('"closed"')));
  const passedOn = commands.filter((command) => /"hset" "almanac:rate:/.test(command));
  t.true(passedOn.some((command) => command.includes(accountId)));
});

// These come last: their gateways cannot report their end to accounts-api, and count as running for a while.
for (const [name, redisUrl] of places) {
  test.serial(
    `an IP address with failing credentials is refused without a lookup; known keys and other addresses are not, ${name}`,
    async (t) => {
      const accountsApi = closedOnce(await startRecordingUpstream('accounts-api', accounts.url));
      t.teardown(() => accountsApi.close());
      const gateway = await startTestGateway({
        accounts,
        accountsApiUrls: [accountsApi.url],
        redisUrl,
        publicCallsPerSecond: 3,
        trustedProxyHops: 1,
        closeWithinMs: 0, // its accounts-api has stopped by then
      });
      t.teardown(() => gateway.close());
      const [{ key }, revoked] = [await accounts.newClient('pro'), await accounts.newClient('pro')];
      const network = Math.floor(Math.random() * 65_536).toString(16);
      const call = (credential: Record<string, string>, path = '/v1/series/A', host = '1:2') =>
        fetch(gateway.url + path, {
          headers: { ...credential, 'x-forwarded-for': `2001:db8:${network}:${host}` },
        });
      const statusOf = async (...words: Parameters<typeof call>) => (await call(...words)).status;
      t.is(await statusOf({ 'x-api-key': key }), 200);
      t.is(await statusOf({ 'x-api-key': revoked.key }), 200);
      await revokeKey(accounts.deps, revoked.keyId);
      // The gateway's clock is stopped, so an address that is refused once stays refused.
      await until(
        'the address is refused',
        async () => (await statusOf({ 'x-api-key': mintApiKey() })) === 429,
      );
      t.is(await statusOf({ 'x-api-key': key }), 200, 'a key that was accepted before');
      t.is(await statusOf({ 'x-api-key': mintApiKey() }, '/v1/series/A', '9::'), 401, 'another address');
      t.is(await statusOf({ 'x-api-key': revoked.key }), 429);
      t.is(await statusOf({ 'x-api-key': revoked.key }), 429, 'no longer a known key');
      await accountsApi.close(); // a lookup would be 503 from now on
      const failing: Record<string, string>[] = [
        { 'x-api-key': mintApiKey() },
        { 'x-api-key': 'mistyped' },
        { 'x-api-key': revoked.key },
        {},
      ];
      for (const credential of failing) {
        const refused = await call(credential, '/v1/series/A', '1:3');
        t.is(refused.status, 429, JSON.stringify(Object.keys(credential)));
        t.is(refused.headers.get('retry-after'), '1');
        t.is(await statusOf(credential, '/v1/usage'), 429);
      }
      t.is(await statusOf({ 'x-session-token': mintSessionToken().token }, '/v1/usage'), 429);
      t.is(await statusOf({ 'x-api-key': mintApiKey() }, '/v1/series/A', '9::'), 503);
    },
  );
}
