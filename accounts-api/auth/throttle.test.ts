import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { createClient } from 'redis';
import { silentLog, testRedisUrl } from '../../test/services/harness.ts';
import { Failure } from '../../kernel/errors.ts';
import { openRedis } from '../../kernel/redis.ts';
import { createThrottle, waitSeconds } from './throttle.ts';

const right = () => Promise.resolve(true);
const wrong = () => Promise.resolve(false);
const someone = () => `throttle-${randomBytes(6).toString('hex')}@example.org`;
let hosts = 0;
const somewhere = () => {
  hosts += 1;
  const [high, low] = [Math.floor(hosts / 250), hosts % 250];
  return `10.${randomBytes(1)[0]}.${high}.${low}`;
};
/** A throttle that counts in Redis where it is given one, from the first try on. */
async function throttleOf(t: ExecutionContext, redisUrl: string | undefined) {
  const redis = redisUrl === undefined ? undefined : openRedis(redisUrl, silentLog);
  t.teardown(() => redis?.close());
  await redis?.opened();
  return createThrottle({ redis, secret: 'x'.repeat(32) });
}

const stores: [string, () => string | undefined][] = [
  ['in process', () => undefined],
  ['in Redis', testRedisUrl],
];

test.serial(
  'five attempts have no delay, then each waits twice as long as the previous one, a quarter of an hour at most',
  (t) => {
    t.deepEqual([1, 5, 6, 7, 8, 9].map(waitSeconds), [0, 0, 1, 2, 4, 8]);
    t.is(waitSeconds(15), 512);
    t.is(waitSeconds(16), 900);
    t.is(waitSeconds(10_000), 900);
  },
);

for (const [where, redisUrl] of stores) {
  test.serial(
    `${where}: an account under attack from many IP addresses is throttled, and its owner's device is not`,
    async (t) => {
      const throttle = await throttleOf(t, redisUrl());
      const email = someone();
      const device = throttle.deviceToken(email);
      for (let i = 0; i < 6; i += 1) await throttle.signIn({ email, ip: somewhere() }, wrong);
      const error = await t.throwsAsync(
        throttle.signIn({ email: email.toUpperCase(), ip: somewhere() }, wrong),
        {
          code: 'rate_limited',
        },
      );
      t.like(error, { headers: { 'retry-after': '1' } });
      await t.throwsAsync(
        throttle.signIn({ email, ip: somewhere(), device: throttle.deviceToken(someone()) }, wrong),
        { code: 'rate_limited' },
      );
      await t.throwsAsync(
        throttle.signIn({ email, ip: somewhere(), device: `${device.slice(0, -1)}x` }, wrong),
        {
          code: 'rate_limited',
        },
      );
      await t.notThrowsAsync(throttle.signIn({ email, ip: somewhere(), device }, wrong));
    },
  );

  test.serial(`${where}: a device counts for itself, so a stolen token guesses no faster`, async (t) => {
    const throttle = await throttleOf(t, redisUrl());
    const email = someone();
    const device = throttle.deviceToken(email);
    for (let i = 0; i < 6; i += 1) await throttle.signIn({ email, ip: somewhere(), device }, wrong);
    await t.throwsAsync(throttle.signIn({ email, ip: somewhere(), device }, wrong), { code: 'rate_limited' });
  });

  test.serial(`${where}: a right password, or a reset, forgets the tries before it`, async (t) => {
    const throttle = await throttleOf(t, redisUrl());
    const email = someone();
    for (let i = 0; i < 5; i += 1) await throttle.signIn({ email, ip: somewhere() }, wrong);
    t.true(await throttle.signIn({ email, ip: somewhere() }, right));
    for (let i = 0; i < 6; i += 1) await throttle.signIn({ email, ip: somewhere() }, wrong);
    await t.throwsAsync(throttle.signIn({ email, ip: somewhere() }, wrong), { code: 'rate_limited' });
    await throttle.forgive(email);
    await t.notThrowsAsync(throttle.signIn({ email, ip: somewhere() }, wrong));
  });

  test.serial(`${where}: correct passwords do not count against their IP address`, async (t) => {
    const throttle = await throttleOf(t, redisUrl());
    const ip = somewhere();
    for (let i = 0; i < 31; i += 1) t.true(await throttle.signIn({ email: someone(), ip }, right));
  });

  test.serial(`${where}: a comparison that is refused because too many wait is no try`, async (t) => {
    const throttle = await throttleOf(t, redisUrl());
    const ip = somewhere();
    const refused = () => Promise.reject(new Failure('unavailable', 'Too many at once.'));
    const email = someone();
    for (let i = 0; i < 40; i += 1) {
      await t.throwsAsync(throttle.signIn({ email, ip }, refused), { code: 'unavailable' });
    }
    for (let i = 0; i < 6; i += 1) t.false(await throttle.signIn({ email, ip }, wrong), `try ${i + 1}`);
    await t.throwsAsync(throttle.signIn({ email, ip }, wrong), { code: 'rate_limited' });
    const other = someone();
    for (let i = 0; i < 5; i += 1) await throttle.signIn({ email: other, ip }, wrong);
    for (let i = 0; i < 3; i += 1) {
      await t.throwsAsync(throttle.signIn({ email: other, ip }, refused), { code: 'unavailable' }, 'no wait');
    }
  });

  test.serial(
    `${where}: one password sprayed over a thousand accounts from one IP address is stopped at the thirtieth failure`,
    async (t) => {
      const throttle = await throttleOf(t, redisUrl());
      const ip = somewhere();
      let compared = 0;
      // Twenty at a time: a thousand at once outwait the deadline of a Redis on a busy machine, and are counted elsewhere.
      for (let round = 0; round < 50; round += 1) {
        const tries = Array.from({ length: 20 }, () => throttle.signIn({ email: someone(), ip }, wrong));
        const results = await Promise.allSettled(tries);
        compared += results.filter(({ status }) => status === 'fulfilled').length;
      }
      t.is(compared, 30);
    },
  );

  test.serial(`${where}: all addresses of an IPv6 /64 count as one client`, async (t) => {
    const throttle = await throttleOf(t, redisUrl());
    const net = `2001:db8:${randomBytes(2).toString('hex')}:1`;
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) =>
        throttle.signIn({ email: someone(), ip: `${net}::${i.toString(16)}` }, wrong),
      ),
    );
    t.is(results.filter(({ status }) => status === 'fulfilled').length, 30);
  });

  test.serial(
    `${where}: an e-mail address gets three mails an hour, and a client IP may request ten`,
    async (t) => {
      const throttle = await throttleOf(t, redisUrl());
      const email = someone();
      for (let i = 0; i < 3; i += 1) await throttle.mail({ email, ip: somewhere() });
      await t.throwsAsync(throttle.mail({ email: email.toUpperCase(), ip: somewhere() }), {
        code: 'rate_limited',
      });
      const ip = somewhere();
      for (let i = 0; i < 10; i += 1) await throttle.mail({ email: someone(), ip });
      await t.throwsAsync(throttle.mail({ email: someone(), ip }), { code: 'rate_limited' });
    },
  );

  test.serial(`${where}: 20 attempts at links are allowed in ten minutes per client IP`, async (t) => {
    const throttle = await throttleOf(t, redisUrl());
    const ip = somewhere();
    const results = await Promise.allSettled(Array.from({ length: 25 }, () => throttle.token(ip)));
    t.is(results.filter(({ status }) => status === 'fulfilled').length, 20);
  });
}

test.serial(
  'tries that are compared count for a quarter of an hour from the first of them, and refused ones never',
  async (t) => {
    const throttle = await throttleOf(t, testRedisUrl());
    const client = createClient({ url: testRedisUrl() });
    await client.connect();
    t.teardown(() => client.destroy());
    const email = someone();
    const since = performance.now();
    const attempts = Array.from({ length: 20 }, () => throttle.signIn({ email, ip: somewhere() }, wrong));
    const compared = (await Promise.allSettled(attempts)).filter(
      ({ status }) => status === 'fulfilled',
    ).length;
    const name = createHash('sha256').update(email).digest('hex');
    const leftMs = await client.pTTL(`almanac:throttle:tries:account:${name}`);
    t.is(Number(await client.get(`almanac:throttle:tries:account:${name}`)), compared);
    t.true(compared < 20);
    t.true(leftMs <= 900_000 && leftMs >= 900_000 - 1 - (performance.now() - since), `${leftMs} ms`);
  },
);

test.serial('two instances with one Redis count together', async (t) => {
  const [a, b] = [await throttleOf(t, testRedisUrl()), await throttleOf(t, testRedisUrl())];
  const email = someone();
  for (let i = 0; i < 3; i += 1) {
    await a.signIn({ email, ip: somewhere() }, wrong);
    await b.signIn({ email, ip: somewhere() }, wrong);
  }
  await t.throwsAsync(b.signIn({ email, ip: somewhere() }, wrong), { code: 'rate_limited' });
});

test.serial('limits hold while Redis is dead, or accepts connections and never answers', async (t) => {
  const silent = createServer((socket) => socket.resume());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.teardown(() => silent.close());
  const { port } = silent.address() as { port: number };
  for (const url of ['redis://127.0.0.1:1', `redis://127.0.0.1:${port}`]) {
    const throttle = await throttleOf(t, url);
    const email = someone();
    for (let i = 0; i < 6; i += 1) await throttle.signIn({ email, ip: somewhere() }, wrong);
    await t.throwsAsync(throttle.signIn({ email, ip: somewhere() }, wrong), { code: 'rate_limited' });
  }
});
