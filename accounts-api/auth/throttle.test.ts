import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { createClient } from 'redis';
import { until } from '../../test/run/until.ts';
import { fakeClock, silentLog, testRedisUrl } from '../../test/services/harness.ts';
import { Failure } from '../../kernel/errors.ts';
import { openRedis, redisDeadlineMs } from '../../kernel/redis.ts';
import { createThrottle, waitSeconds } from './throttle.ts';

const right = () => Promise.resolve(true);
const wrong = () => Promise.resolve(false);
const someone = () => `throttle-${randomBytes(6).toString('hex')}@example.org`;
/** An account whose devices no other test uses. */
const holder = (credentialVersion = 1) => ({
  id: `acct_${randomBytes(6).toString('hex')}`,
  credentialVersion,
});
const clock = fakeClock('2026-11-20T10:00:00.000Z');
let hosts = 0;
const somewhere = () => {
  hosts += 1;
  const [high, low] = [Math.floor(hosts / 250), hosts % 250];
  return `10.${randomBytes(1)[0]}.${high}.${low}`;
};
/** The real waits begin with 1 s, which may end before the next attempt of a test on a busy machine. */
const longer = 600;
/** A throttle whose waits are longer. With Redis it counts there from the first attempt, also on a busy machine unless a deadline is set. */
async function throttleOf(t: ExecutionContext, redisUrl: string | undefined, deadlineMs?: number) {
  const redis =
    redisUrl === undefined ? undefined : openRedis(redisUrl, silentLog, { deadlineMs: deadlineMs ?? 30_000 });
  t.teardown(() => redis?.close());
  if (deadlineMs !== undefined) await redis?.opened();
  else await until('Redis can be used', () => redis?.isUsable !== false);
  const wait = (tries: number) => longer * waitSeconds(tries);
  return createThrottle({ redis, secret: 'x'.repeat(32), clock, wait });
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
      const [email, of] = [someone(), holder()];
      const token = throttle.deviceToken(of);
      const since = performance.now();
      for (let i = 0; i < 6; i += 1) await throttle.signIn({ email, ip: somewhere() }, wrong);
      const error = await t.throwsAsync(
        throttle.signIn({ email: email.toUpperCase(), ip: somewhere() }, wrong),
        { instanceOf: Failure, code: 'rate_limited' },
      );
      const seconds = Number(error.headers['retry-after']);
      t.true(seconds <= longer && seconds >= longer - (performance.now() - since) / 1000, `${seconds} s`);
      const unknown = [
        { token: throttle.deviceToken(holder()), of },
        { token: `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`, of },
        { token: token.replace('dev_', 'dev-'), of },
        { token, of: { ...of, credentialVersion: 2 } },
      ];
      for (const device of unknown) {
        await t.throwsAsync(throttle.signIn({ email, ip: somewhere(), device }, wrong), {
          code: 'rate_limited',
        });
      }
      await t.notThrowsAsync(throttle.signIn({ email, ip: somewhere(), device: { token, of } }, wrong));
    },
  );

  test.serial(`${where}: a device is known for 90 days`, async (t) => {
    const throttle = await throttleOf(t, redisUrl());
    const [email, of] = [someone(), holder()];
    const device = { token: throttle.deviceToken(of), of };
    for (let i = 0; i < 6; i += 1) await throttle.signIn({ email, ip: somewhere() }, wrong);
    clock.advance(90 * 24 * 60 * 60_000 - 1000);
    await t.notThrowsAsync(throttle.signIn({ email, ip: somewhere(), device }, wrong));
    clock.advance(1000);
    await t.throwsAsync(throttle.signIn({ email, ip: somewhere(), device }, wrong), {
      code: 'rate_limited',
    });
  });

  test.serial(
    `${where}: all devices of an account count together, so many tokens guess no faster than one`,
    async (t) => {
      const throttle = await throttleOf(t, redisUrl());
      const [email, of] = [someone(), holder()];
      const deviceOf = (whose: typeof of) => ({ token: throttle.deviceToken(whose), of: whose });
      for (let i = 0; i < 6; i += 1)
        await throttle.signIn({ email, ip: somewhere(), device: deviceOf(of) }, wrong);
      await t.throwsAsync(throttle.signIn({ email, ip: somewhere(), device: deviceOf(of) }, wrong), {
        code: 'rate_limited',
      });
      const another = deviceOf(holder());
      await t.notThrowsAsync(throttle.signIn({ email, ip: somewhere(), device: another }, wrong));
      const renewed = deviceOf({ ...of, credentialVersion: 2 });
      await t.notThrowsAsync(throttle.signIn({ email, ip: somewhere(), device: renewed }, wrong));
    },
  );

  test.serial(
    `${where}: attempts with sessions and links are counted separately from those of strangers, with the same limits`,
    async (t) => {
      const throttle = await throttleOf(t, redisUrl());
      const [email, of] = [someone(), holder()];
      const attempts = [
        { email, ip: somewhere() },
        { sessionOf: of },
        { linkTo: email },
        { sessionOf: { ...of, credentialVersion: 2 } },
      ];
      for (const who of attempts) {
        for (let i = 0; i < 6; i += 1) await throttle.signIn(who, wrong);
        await t.throwsAsync(throttle.signIn(who, wrong), { code: 'rate_limited' });
      }
      const sameMailbox = { linkTo: email.toUpperCase() };
      await t.throwsAsync(throttle.signIn(sameMailbox, wrong), { code: 'rate_limited' });
    },
  );

  test.serial(`${where}: a correct password, or a reset, clears the earlier attempts`, async (t) => {
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
    `${where}: an e-mail address gets three e-mails of each kind per hour, and a client IP may request ten in total`,
    async (t) => {
      const throttle = await throttleOf(t, redisUrl());
      const [email, ip] = [someone(), somewhere()];
      const kinds = ['sign_up', 'verify_email', 'change_email', 'reset_password'] as const;
      for (const kind of kinds) {
        for (let i = 0; i < 3; i += 1) await throttle.mail(kind, { email, ip: somewhere() });
        await t.throwsAsync(throttle.mail(kind, { email: email.toUpperCase(), ip: somewhere() }), {
          code: 'rate_limited',
        });
      }
      for (let i = 0; i < 8; i += 1) await throttle.mail('reset_password', { email: someone(), ip });
      for (let i = 0; i < 2; i += 1) t.true(await throttle.signUpMail({ email: someone(), ip }));
      const more = { email: someone(), ip };
      await t.throwsAsync(throttle.mail('change_email', more), { code: 'rate_limited' });
      await t.throwsAsync(throttle.signUpMail(more), { code: 'rate_limited' });
    },
  );

  test.serial(
    `${where}: a mailbox that has reached its hourly limit gets no e-mail for a sign-up, but the sign-up is not refused`,
    async (t) => {
      const throttle = await throttleOf(t, redisUrl());
      const email = someone();
      const asked = [];
      for (let i = 0; i < 5; i += 1) asked.push(await throttle.signUpMail({ email, ip: somewhere() }));
      t.deepEqual(asked, [true, true, true, false, false]);
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
  'attempts that are compared count for a quarter of an hour from the first one; refused attempts never count',
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
    const throttle = await throttleOf(t, url, redisDeadlineMs);
    const email = someone();
    for (let i = 0; i < 6; i += 1) await throttle.signIn({ email, ip: somewhere() }, wrong);
    await t.throwsAsync(throttle.signIn({ email, ip: somewhere() }, wrong), { code: 'rate_limited' });
  }
});
