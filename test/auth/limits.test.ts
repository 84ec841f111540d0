// Every throttle, and every rule that requires a recent sign-in, over HTTP: at each endpoint where it applies, with its exact limit.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createPasswords } from '../../accounts-api/auth/passwords.ts';
import { limits } from '../../accounts-api/auth/throttle.ts';
import { projectRoot } from '../../kernel/project.ts';
import { assertError, dataOf, startAccountsService, type Answer } from '../services/accounts-service.ts';
import { settingsOf } from '../billing/paying.ts';
import { fakeClock } from '../services/harness.ts';
import { newEmail, newIp, newNetwork, newPassword, testPasswordCost } from '../services/sign-in.ts';
import { startStripe } from '../stripe/stripe.ts';
import { enrolHolder, wrongCodeAt } from './authenticator.ts';
import { holdersOf, type Holder } from './holders.ts';
import { Passkey, passkeysOf } from './passkey-authenticator.ts';
import { startOddIssuer } from './issuers.ts';

const issuer = await startOddIssuer();
const stripe = await startStripe({ clock: fakeClock('2026-11-20T10:00:00.000Z') });
stripe.addPrice({ lookupKey: 'almanac_pro_month', amount: 9_900 });
const service = await startAccountsService(undefined, undefined, {
  signIn: { google: issuer.settings },
  stripe: settingsOf(stripe),
});
const { password, newHolder, newSession, newSignUp, mailLink, accountOf } = await holdersOf(service);
test.after.always(async () => {
  await service.close();
  await issuer.close();
  await stripe.close();
});

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Asserts that the call is refused until this many seconds after `since`, the instant of the first counted call. */
function assertRefusedFor(t: ExecutionContext, answer: Answer, seconds: number, since: number): void {
  assertError(t, answer, 429, 'rate_limited');
  const elapsed = (performance.now() - since) / 1000;
  const wait = Number(answer.headers.get('retry-after'));
  t.true(wait <= seconds && wait >= Math.floor(seconds - elapsed), `${wait} of ${seconds} s`);
}

/** Makes this many calls in turn, which must not be throttled, then one that must be. */
async function assertLimit(
  t: ExecutionContext,
  { points, seconds }: { points: number; seconds: number },
  call: () => Promise<Answer>,
): Promise<void> {
  const since = performance.now();
  for (let i = 1; i <= points; i += 1) t.not((await call()).status, 429, `call ${i} of ${points}`);
  assertRefusedFor(t, await call(), seconds, since);
}

/** The documented limits. A limit without a line here does not compile. */
const promised: Record<keyof typeof limits, { points: number; seconds: number }> = {
  failures: { points: 30, seconds: 15 * 60 },
  mailsOfIp: { points: 10, seconds: 60 * 60 },
  mailsToRecipient: { points: 3, seconds: 60 * 60 },
  tokens: { points: 20, seconds: 10 * 60 },
};

interface Who {
  ip: string;
  email: string;
}
type Call = (who: Who) => Promise<Answer>;

/** Where a password or a code is compared: `prepare` gives a call that names a wrong one for one account. */
const passwordSites: { at: string; what: string; prepare: () => Promise<(ip: string) => Promise<Answer>> }[] =
  [
    {
      at: 'sign-in.ts signIn',
      what: 'signing in',
      async prepare() {
        const { email } = await newHolder();
        const body = { email, password: newPassword() };
        return (ip) => service.anonymously('/auth/login', { body, headers: { 'x-forwarded-for': ip } });
      },
    },
    {
      at: 'password-change.ts signIn',
      what: 'changing the password, by its present one',
      async prepare() {
        const holder = await newHolder();
        const body = { current: newPassword(), new: newPassword() };
        return (ip) =>
          service.signedIn(holder, '/auth/change-password', { body, headers: { 'x-forwarded-for': ip } });
      },
    },
    {
      at: 'prove-holder.ts signIn',
      what: 'asking for a new e-mail address, by the password',
      async prepare() {
        const holder = await newHolder();
        const body = { email: newEmail(), password: newPassword() };
        const ask = { method: 'PATCH', body };
        return (ip) =>
          service.signedIn(holder, '/v1/account', { ...ask, headers: { 'x-forwarded-for': ip } });
      },
    },
    {
      at: 'sign-up.ts signIn',
      what: 'opening the link of a sign-up, by its password',
      async prepare() {
        const { token } = await newSignUp();
        const body = { token, password: newPassword() };
        return (ip) =>
          service.anonymously('/auth/verify-email', { body, headers: { 'x-forwarded-for': ip } });
      },
    },
    {
      at: 'sign-up.ts signIn',
      what: 'confirming an e-mail address by a mailed link, with the password of the account',
      async prepare() {
        const body = { token: await mailLink(await newHolder(), 'verify_email'), password: newPassword() };
        return (ip) =>
          service.anonymously('/auth/verify-email', { body, headers: { 'x-forwarded-for': ip } });
      },
    },
    {
      at: 'pending.ts signIn',
      what: 'finishing a sign-in, by a code',
      async prepare() {
        const holder = await newHolder();
        const { secret } = await enrolHolder(service, holder, { password });
        const first = { email: holder.email, password };
        const { body: started } = await service.anonymously('/auth/login', { body: first });
        const { sign_in_token } = (started as { data: { sign_in_token: string } }).data;
        const body = { sign_in_token, code: wrongCodeAt(secret, service.clock.now()) };
        return (ip) =>
          service.anonymously('/auth/login/second-factor', { body, headers: { 'x-forwarded-for': ip } });
      },
    },
    {
      at: 'passkey-sign-in.ts signIn',
      what: 'signing in by a passkey, with the key of another',
      async prepare() {
        const passkeys = passkeysOf(service);
        const { passkey } = await passkeys.add(await newHolder(), { password });
        const signer = new Passkey();
        return (ip) => passkeys.signIn(passkey, { signer }, { 'x-forwarded-for': ip });
      },
    },
    {
      at: 'proof.ts signIn',
      what: 'turning the second factor off, by a code',
      async prepare() {
        const holder = await newHolder();
        const { secret } = await enrolHolder(service, holder, { password });
        const body = { password, code: wrongCodeAt(secret, service.clock.now()) };
        return () => service.signedIn(holder, '/auth/second-factor/turn-off', { body });
      },
    },
  ];

for (const { what, prepare } of passwordSites) {
  test.serial(`six wrong passwords or codes are compared, and the next ones wait: ${what}`, async (t) => {
    const call = await prepare();
    // All at once, so that no wait ends before the last of them: attempts are counted before their password is compared.
    const answers = await Promise.all(Array.from({ length: 9 }, () => call(newIp())));
    for (const answer of answers.filter(({ status }) => status !== 429)) {
      assertError(t, answer, 401, 'invalid_credentials');
    }
    const refused = answers.filter(({ status }) => status === 429);
    t.is(refused.length, 3);
    // The sixth waits 1 s, and each further one twice as long. If two services count two attempts at once, the later one may pass first. Each is
    // refused for the rest of its wait, which is shorter if the password that precedes a code has taken time.
    const waits = refused.map(({ headers }) => headers.get('retry-after'));
    for (const wait of waits) t.regex(wait ?? '', /^[1-8]$/);
  });
}

test.serial(
  'a new password by a mailed link forgets the tries at the account, of strangers too',
  async (t) => {
    const holder = await newHolder();
    const guess = () =>
      service.anonymously('/auth/login', {
        body: { email: holder.email, password: newPassword() },
        headers: { 'x-forwarded-for': newIp() },
      });
    const compared = async () => {
      const answers = await Promise.all(Array.from({ length: 9 }, guess));
      return answers.filter(({ status }) => status === 401).length;
    };
    t.is(await compared(), 6);
    const body = { token: await mailLink(holder, 'reset_password'), password: newPassword() };
    const headers = { 'x-forwarded-for': newIp() };
    t.is((await service.anonymously('/auth/set-password', { body, headers })).status, 200);
    t.is(await compared(), 6);
  },
);

test.serial('a known device has its own attempts, whatever strangers do', async (t) => {
  const { email } = await newHolder();
  const logIn = (wish: object) =>
    service.anonymously('/auth/login', {
      body: { email, ...wish },
      headers: { 'x-forwarded-for': newIp() },
    });
  const signedIn = await logIn({ password });
  const { device_token } = (signedIn.body as { data: { device_token: string } }).data;
  const compared = async (wish: object) => {
    const guesses = Array.from({ length: 9 }, () => logIn({ password: newPassword(), ...wish }));
    return (await Promise.all(guesses)).filter(({ status }) => status === 401).length;
  };
  t.is(await compared({}), 6);
  t.is(await compared({ device_token }), 6);
});

test.serial('all devices of an account have one limit together', async (t) => {
  const { email } = await newHolder();
  const logIn = (wish: object) =>
    service.anonymously('/auth/login', { body: { email, ...wish }, headers: { 'x-forwarded-for': newIp() } });
  const devices: string[] = [];
  for (let i = 0; i < 7; i += 1) {
    const { body } = await logIn({ password });
    devices.push((body as { data: { device_token: string } }).data.device_token);
  }
  const guesses = [...devices, ...devices].map((device_token) =>
    logIn({ password: newPassword(), device_token }),
  );
  const compared = (await Promise.all(guesses)).filter(({ status }) => status === 401).length;
  t.true(compared < 12, `${compared} of 14 are compared; each by itself would have all of them`);
});

/** The ways of ending a known device; each returns the token of a new one, if there is one. */
const deviceEnds: Record<string, (holder: Holder) => Promise<Answer | null>> = {
  'a password change': (holder) =>
    service.signedIn(holder, '/auth/change-password', {
      body: { current: password, new: newPassword() },
      headers: { 'x-forwarded-for': newIp() },
    }),
  async 'a reset by e-mail'(holder) {
    const body = { token: await mailLink(holder, 'reset_password'), password: newPassword() };
    return service.anonymously('/auth/set-password', { body, headers: { 'x-forwarded-for': newIp() } });
  },
  async 'another e-mail address'(holder) {
    const body = { token: await mailLink(holder, 'change_email', holder.email.toUpperCase()) };
    const headers = { 'x-forwarded-for': newIp() };
    return service.signedIn(holder, '/auth/verify-email', { body, headers });
  },
  async '90 days'() {
    service.clock.advance(90 * 24 * hourMs);
    return null;
  },
};
for (const [what, end] of Object.entries(deviceEnds)) {
  test.serial(`a known device is unknown after ${what}`, async (t) => {
    const holder = await newHolder();
    const logIn = (wish: object) =>
      service.anonymously('/auth/login', {
        body: { email: holder.email, ...wish },
        headers: { 'x-forwarded-for': newIp() },
      });
    const { body } = await logIn({ password });
    const { device_token } = (body as { data: { device_token: string } }).data;
    const ended = await end(holder);
    // All at once, with the token and without it: separate limits would compare twelve passwords.
    const guesses = Array.from({ length: 6 }, () => [
      logIn({ password: newPassword() }),
      logIn({ password: newPassword(), device_token }),
    ]);
    const answers = await Promise.all(guesses.flat());
    t.true(answers.filter(({ status }) => status === 401).length < 12);
    if (ended === null) return;
    const renewed = dataOf(t, ended) as { device_token: string };
    t.is((await logIn({ password: newPassword(), device_token: renewed.device_token })).status, 401);
  });
}

test.serial('at most thirty wrong passwords from one client IP, whatever the account', async (t) => {
  const nextIp = newNetwork();
  const password = newPassword();
  const fail = () =>
    service.anonymously('/auth/login', {
      body: { email: newEmail(), password },
      headers: { 'x-forwarded-for': nextIp() },
    });
  const since = performance.now();
  const { points, seconds } = promised.failures;
  const answers = await Promise.all(Array.from({ length: points }, fail));
  t.true(answers.every(({ status }) => status === 401));
  assertRefusedFor(t, await fail(), seconds, since);
});

/** The requests that send mail to an address that the caller names, or may have named. */
const mailSites: { at: string; what: string; call: Call }[] = [
  {
    at: 'sign-up.ts mail',
    what: 'signing up',
    call: ({ ip, email }) =>
      service.anonymously('/auth/signup', {
        body: { email, password: newPassword() },
        headers: { 'x-forwarded-for': ip },
      }),
  },
  {
    at: 'password-change.ts mail',
    what: 'a forgotten password',
    call: ({ ip, email }) =>
      service.anonymously('/auth/forgot-password', { body: { email }, headers: { 'x-forwarded-for': ip } }),
  },
  {
    at: 'account.ts mail',
    what: 'a new e-mail address',
    async call({ ip, email }) {
      const holder = await newHolder({ hasPassword: false });
      return service.signedIn(holder, '/v1/account', {
        method: 'PATCH',
        body: { email },
        headers: { 'x-forwarded-for': ip },
      });
    },
  },
  {
    at: 'sign-up.ts mail',
    what: 'another confirmation e-mail',
    async call({ ip, email }) {
      const known = await service.deps.db.accounts.findOne({ where: { email } });
      const holder = known === null ? await newHolder({ verified: false }) : null;
      const accountId = known?.id ?? holder?.accountId ?? '';
      await service.deps.db.accounts.update({ email }, { where: { id: accountId } });
      const { sessionId } = await newSession(accountId);
      return service.signedIn({ accountId, sessionId }, '/auth/verify-email/resend', {
        method: 'POST',
        headers: { 'x-forwarded-for': ip },
      });
    },
  },
  {
    at: 'checkout.ts mail',
    what: 'a purchase without an account',
    call: ({ ip, email }) =>
      service.anonymously('/v1/checkout', {
        body: { plan: 'pro', email },
        headers: { 'x-forwarded-for': ip },
      }),
  },
];

for (const { what, call } of mailSites) {
  test.serial(`an e-mail address gets three e-mails an hour: ${what}`, async (t) => {
    const email = newEmail();
    await assertLimit(t, promised.mailsToRecipient, () => call({ ip: newIp(), email }));
  });
  test.serial(`mails of other kinds do not use up those of this one: ${what}`, async (t) => {
    const email = newEmail();
    for (const other of mailSites.filter((each) => each.what !== what)) {
      for (let i = 0; i <= 3; i += 1) await other.call({ ip: newIp(), email });
    }
    t.not((await call({ ip: newIp(), email })).status, 429);
  });
  test.serial(`a client makes ten e-mails an hour: ${what}`, async (t) => {
    const nextIp = newNetwork();
    await assertLimit(t, promised.mailsOfIp, () => call({ ip: nextIp(), email: newEmail() }));
  });
}

test.serial('a use of a mailed link compares the passwords of at most ten sign-ups', async (t) => {
  const own = newPassword();
  const ownHash = await createPasswords(testPasswordCost).hash(own);
  const finish = async (others: number) => {
    const { email, signupId } = await newSignUp();
    await service.deps.db.signups.update({ passwordHash: ownHash }, { where: { id: signupId } });
    let token = '';
    for (let i = 0; i < others; i += 1) {
      service.clock.advance(1);
      ({ token } = await newSignUp(email));
    }
    const headers = { 'x-forwarded-for': newIp() };
    return service.anonymously('/auth/verify-email', { body: { token, password: own }, headers });
  };
  t.is((await finish(9)).status, 200);
  assertError(t, await finish(10), 401, 'invalid_credentials');
});

const noToken = 'A'.repeat(43);
/** The endpoints that accept a secret from an e-mail or from Google. */
const tokenSites: { at: string; what: string; call: (ip: string) => Promise<Answer> }[] = [
  {
    at: 'password-change.ts token',
    what: 'links to a new password',
    call: (ip) =>
      service.anonymously('/auth/set-password', {
        body: { token: noToken, password: newPassword() },
        headers: { 'x-forwarded-for': ip },
      }),
  },
  {
    at: 'sign-up.ts token',
    what: 'links that confirm an e-mail address',
    call: (ip) =>
      service.anonymously('/auth/verify-email', {
        body: { token: noToken, password: newPassword() },
        headers: { 'x-forwarded-for': ip },
      }),
  },
  {
    at: 'google.ts token',
    what: 'ways back from Google',
    call: (ip) =>
      service.anonymously(`/auth/google/callback?code=c&state=${noToken}`, {
        headers: { 'x-forwarded-for': ip },
      }),
  },
  {
    at: 'google.ts token',
    what: 'one-time codes for a session',
    call: (ip) =>
      service.anonymously('/auth/google/exchange', {
        body: { code: noToken },
        headers: { 'x-forwarded-for': ip },
      }),
  },
];

for (const { what, call } of tokenSites) {
  test.serial(`a client tries twenty secrets in ten minutes: ${what}`, async (t) => {
    const nextIp = newNetwork();
    await assertLimit(t, promised.tokens, () => call(nextIp()));
  });
}

/** The calls that require a sign-in within the hour. `hasPassword`: whether the account has a password. */
const freshSites: {
  at: string;
  what: string;
  hasPassword: boolean;
  call: (holder: Holder) => Promise<Answer>;
}[] = [
  {
    at: 'closing.ts requireFresh',
    what: 'closing the account',
    hasPassword: true,
    call: (holder) => service.signedIn(holder, '/v1/account', { method: 'DELETE' }),
  },
  {
    at: 'prove-holder.ts requireFresh',
    what: 'another e-mail address for an account without a password',
    hasPassword: false,
    call: (holder) =>
      service.signedIn(holder, '/v1/account', {
        method: 'PATCH',
        body: { email: newEmail() },
        headers: { 'x-forwarded-for': newIp() },
      }),
  },
  {
    at: 'password-change.ts requireFresh',
    what: 'a first password',
    hasPassword: false,
    call: (holder) => service.signedIn(holder, '/auth/set-password', { body: { password: newPassword() } }),
  },
  {
    at: 'google.ts requireFresh',
    what: 'linking Google',
    hasPassword: true,
    call: (holder) => service.signedIn(holder, '/auth/google/link', { method: 'POST' }),
  },
  {
    at: 'google.ts requireFresh',
    what: 'unlinking Google',
    hasPassword: true,
    async call(holder) {
      const identity = { issuer: issuer.settings.issuer, subject: holder.accountId };
      await service.deps.db.sequelize.query(
        `insert into accounts.identities (issuer, subject, account_id, email, created_at)
         values ($1, $2, $2, 'someone@gmail.com', now()) on conflict do nothing`,
        { bind: [identity.issuer, identity.subject] },
      );
      return service.signedIn(holder, '/auth/google/link', { method: 'DELETE' });
    },
  },
];

for (const { what, hasPassword, call } of freshSites) {
  test.serial(
    `the sign-in must not be older than an hour, however the session was used: ${what}`,
    async (t) => {
      const late = await newHolder({ hasPassword });
      const { sessionId, name } = await newSession(late.accountId);
      service.clock.advance(1);
      const inTime = await newHolder({ hasPassword });
      service.clock.advance(hourMs / 2);
      await service.internally('/internal/sessions', { sessions: [name] });
      service.clock.advance(hourMs / 2);
      await newSession(late.accountId);
      const before = (await accountOf(late)).toJSON();
      assertError(t, await call({ ...late, sessionId }), 401, 'reauthentication_required');
      t.deepEqual((await accountOf(late)).toJSON(), before);
      const answer = await call(inTime);
      t.true(answer.status < 300, JSON.stringify(answer.body));
    },
  );
}

test.serial(
  'a session that has just ended does not count as recent, even if its call was admitted',
  async (t) => {
    const holder = await newHolder();
    const ended = await newSession(holder.accountId);
    await service.signedIn(holder, `/auth/sessions/${ended.sessionId}`, { method: 'DELETE' });
    const caller = { ...holder, sessionId: ended.sessionId };
    const answer = await service.signedIn(caller, '/v1/account', { method: 'DELETE' });
    assertError(t, answer, 401, 'reauthentication_required');
  },
);

test.serial(
  'every limit and every place that throttles or asks for a recent sign-in has its case here',
  (t) => {
    t.deepEqual(Object.keys(promised).sort(), Object.keys(limits).sort());
    const folder = path.join(projectRoot, 'accounts-api');
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
    );
    const called = files.flatMap((name) => {
      const text = readFileSync(path.join(folder, name), 'utf8');
      const calls = text.matchAll(/throttle\.(signIn|mail|signUpMail|token)\(|(requireFresh)\(deps,/g);
      return [...calls].map(([, throttle, fresh]) => `${path.basename(name)} ${throttle ?? fresh}`);
    });
    // `requirePassword` in sign-up.ts compares the password of a sign-up or of an account: two cases of one call.
    const cases = [
      ...new Set(passwordSites.map(({ at }) => at)),
      ...[...mailSites, ...tokenSites, ...freshSites].map(({ at }) => at),
      'proof.ts requireFresh', // of operators with a passkey: test/auth/passkeys.test.ts
      'sign-up.ts signUpMail', // where mail goes out: test/auth/sign-up.test.ts
    ];
    t.deepEqual(called.sort(), cases.sort());
  },
);
