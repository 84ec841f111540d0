// /auth/login: the same answer for every failure, bounded hashing, and throttled attempts without lockout.
import test from 'ava';
import { createPasswords, defaultCost } from '../../accounts-api/auth/passwords.ts';
import { parseSessionToken } from '../../kernel/credentials/session-token.ts';
import { assertError, dataOf, startAccountsService, type Answer } from '../services/accounts-service.ts';
import { mailJobs } from './mail-jobs.ts';
import { from, newEmail, newPassword, testPasswordCost } from '../services/sign-in.ts';

const service = await startAccountsService(undefined, undefined, { passwordCost: defaultCost });
const mailed = await startAccountsService(undefined, undefined, { signIn: { mailGoesOut: true } });
test.after.always(async () => {
  await service.close();
  await mailed.close();
});

const logIn = (body: object, headers: Record<string, string> = from(), on = service) =>
  on.anonymously('/auth/login', { body, headers });

async function newHolder() {
  const [email, password] = [newEmail(), newPassword()];
  const answer = await service.anonymously('/auth/signup', { body: { email, password }, headers: from() });
  const { session_token, device_token } = (
    answer.body as { data: { session_token: string; device_token: string } }
  ).data;
  const [sessionId = ''] = session_token.split('.');
  const row = await service.deps.db.accounts.findOne({ where: { email } });
  return { email, password, device_token, sessionId, session_token, accountId: row?.id ?? '' };
}

const shapeOf = ({ status, headers, body }: Answer) => ({
  status,
  body,
  headers: [...headers].filter(([name]) => !['date', 'server-timing'].includes(name)),
});

test.serial('the available ways to sign in are listed', async (t) => {
  const passkeys = { origin: 'https://almanac.example' };
  const methods = { google: false, passkeys, mail: false, password_length_min: 8, billing: false };
  t.deepEqual(dataOf(t, await service.anonymously('/auth/methods')), methods);
  t.deepEqual(dataOf(t, await mailed.anonymously('/auth/methods')), { ...methods, mail: true });
});

test.serial(
  'an unknown e-mail address, a wrong password, an account with Google only and a disabled one get the same answer',
  async (t) => {
    const holder = await newHolder();
    const googleOnly = await service.newClient();
    const disabled = await newHolder();
    await service.deps.db.accounts.update({ status: 'disabled' }, { where: { id: disabled.accountId } });
    const googleEmail = (await service.deps.db.accounts.findByPk(googleOnly.accountId))?.email;
    const password = newPassword();
    const shapes = await Promise.all(
      [newEmail(), holder.email, googleEmail, disabled.email].map(async (email) =>
        shapeOf(await logIn({ email, password })),
      ),
    );
    t.is(shapes[0]?.status, 401);
    for (const shape of shapes) t.deepEqual(shape, shapes[0]);
  },
);

test.serial(
  'only someone who knows the password learns that an account is disabled, or its e-mail address not confirmed',
  async (t) => {
    const disabled = await newHolder();
    await service.deps.db.accounts.update({ status: 'disabled' }, { where: { id: disabled.accountId } });
    const { email, password } = disabled;
    t.regex(assertError(t, await logIn({ email, password }), 403, 'forbidden').message, /disabled/);

    const passwordHash = await createPasswords(testPasswordCost).hash(password);
    const unconfirmed = {
      id: `acct_${'u'.repeat(20)}`,
      name: null,
      plan: 'free',
      createdAt: mailed.clock.now(),
    };
    await mailed.deps.db.accounts.create({ ...unconfirmed, email, passwordHash });
    const answer = await logIn({ email, password }, from(), mailed);
    t.regex(assertError(t, answer, 403, 'forbidden').message, /not confirmed/);
  },
);

test.serial(
  'a forgotten password is answered alike and leaves the same job, whether or not there is an account',
  async (t) => {
    const holder = await newHolder();
    const jobsOf = async (email: string) => {
      const jobs = await mailJobs(service.databaseUrl);
      const his = jobs.filter(({ data }) => 'email' in data && data.email === email);
      const left = his.map(({ name, priority, data }) => ({ name, priority, data }));
      return JSON.stringify(left).replaceAll(email, 'someone@example.org');
    };
    const [known, unknown] = [holder.email, newEmail()];
    const ask = (email: string) =>
      service.anonymously('/auth/forgot-password', { body: { email }, headers: from() });
    const shape = (answer: Answer, email: string) =>
      JSON.stringify(shapeOf(answer)).replaceAll(email, 'someone@example.org');
    const [toKnown, toUnknown] = [await ask(known), await ask(unknown)];
    t.is(toKnown.status, 202);
    const withoutLength = (text: string) => text.replaceAll(/\["(?:etag|content-length)","[^"]*"\],?/g, '');
    t.is(withoutLength(shape(toKnown, known)), withoutLength(shape(toUnknown, unknown)));
    t.regex(await jobsOf(known), /^\[\{"name":"mail-request",[^[\]]+\}\]$/);
    t.is(await jobsOf(known), await jobsOf(unknown));
  },
);

test.serial(
  'a hash of weaker parameters is renewed when its password comes by, and not when a wrong one does',
  async (t) => {
    const holder = await newHolder();
    const weak = await createPasswords(testPasswordCost).hash(holder.password);
    await service.deps.db.accounts.update({ passwordHash: weak }, { where: { id: holder.accountId } });
    const stored = async () =>
      (await service.deps.db.accounts.findByPk(holder.accountId))?.passwordHash ?? '';
    await logIn({ email: holder.email, password: newPassword() });
    t.is(await stored(), weak);
    dataOf(t, await logIn({ email: holder.email, password: holder.password }));
    t.regex(await stored(), /^\$argon2id\$v=19\$m=47104,t=1,p=1\$/);
    dataOf(t, await logIn({ email: holder.email, password: holder.password }));
  },
);

test.serial(
  'passwords of 64 characters, of 256, with blanks, in any script and with a NUL work to the last character',
  async (t) => {
    for (const password of [
      'sixty-four characters of a password that is long and still fine!',
      'a long sentence of many words, again and again; '.repeat(6).slice(0, 256),
      '  blanks all around  ',
      'Пароль из слов 密码很长 🦊',
      'nul\u0000in-the-middle',
    ]) {
      const email = newEmail();
      const signedUp = await service.anonymously('/auth/signup', {
        body: { email, password },
        headers: from(),
      });
      t.is(signedUp.status, 201, password);
      t.is((await logIn({ email, password })).status, 200, password);
      t.is((await logIn({ email, password: password.slice(0, -1) })).status, 401, password);
      t.is((await logIn({ email, password: `${password} ` })).status, 401, password);
    }
  },
);

test.serial(
  'an account under attack says so to strangers alike, and its owner signs in from a known device',
  async (t) => {
    const holder = await newHolder();
    // All at once, so that no wait ends before the last of them: attempts are counted before their password is compared.
    const attack = (email: string) =>
      Promise.all(Array.from({ length: 9 }, () => logIn({ email, password: newPassword() })));
    const [refused, ofUnknown] = [await attack(holder.email), await attack(newEmail())].map((answers) => {
      t.is(answers.filter(({ status }) => status === 401).length, 6);
      const beyond = answers.filter(({ status }) => status !== 401);
      for (const answer of beyond) assertError(t, answer, 429, 'rate_limited');
      return beyond;
    });
    for (const answer of refused ?? []) t.is(answer.headers.get('retry-after'), '1');
    t.deepEqual(
      ofUnknown?.map(shapeOf),
      refused?.map(shapeOf),
      'the throttle does not distinguish known from unknown e-mail addresses',
    );
    const { email, password, device_token } = holder;
    dataOf(t, await logIn({ email, password, device_token }));
  },
);

test.serial(
  'a flood of sign-ins is partly refused and harms nobody else: other endpoints answer, and the service continues',
  async (t) => {
    const holder = await newHolder();
    const client = await service.newClient();
    const flood = Array.from({ length: 150 }, () => logIn({ email: newEmail(), password: newPassword() }));
    const beside = await Promise.all(Array.from({ length: 20 }, () => service.as(client, '/v1/account')));
    t.true(beside.every(({ status }) => status === 200));
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    t.true(statuses.every((status) => status === 401 || status === 503));
    t.true(statuses.includes(503), 'more came than may wait');
    dataOf(t, await logIn({ email: holder.email, password: holder.password }));
  },
);

test.serial(
  'only the known fields are accepted: no plan, no verified e-mail address, no id, at sign-up or sign-in',
  async (t) => {
    for (const field of [
      'plan',
      'id',
      'email_verified',
      'emailVerifiedAt',
      'status',
      'account_id',
      'constructor',
    ]) {
      const body = { email: newEmail(), password: newPassword(), [field]: 'enterprise' };
      const signUp = await service.anonymously('/auth/signup', { body, headers: from() });
      t.is(assertError(t, signUp, 400, 'invalid_body').param, field);
      t.is(assertError(t, await logIn(body), 400, 'invalid_body').param, field);
    }
  },
);

test.serial('an invalid field of a sign-in or mailed link is refused with its required format', async (t) => {
  const [email, password, token] = ['a@example.org', 'x', 'x'.repeat(43)];
  const linkRule = '"token" must be the token of a mailed link.';
  for (const [path, body, message] of [
    ['/auth/login', { email: 'x', password }, '"email" must be an e-mail address.'],
    ['/auth/login', { email }, '"password" is required: it must be text.'],
    [
      '/auth/login',
      { email, password: 'x'.repeat(1025) },
      '"password" is longer than the longest accepted password.',
    ],
    ['/auth/verify-email', {}, '"token" is required: it must be the token of a mailed link.'],
    ['/auth/verify-email', { token: `${token}x` }, linkRule],
    ['/auth/set-password', { token: 5, password }, linkRule],
    ['/auth/set-password', { token: `.${token.slice(1)}`, password }, linkRule],
  ] as const) {
    const answer = await service.anonymously(path, { body, headers: from() });
    t.is(assertError(t, answer, 400, 'invalid_body').message, message, path);
  }
  const longest = { email, password: 'x'.repeat(1024) };
  assertError(t, await logIn(longest), 401, 'invalid_credentials');
});

test.serial(
  'the gateway gets the accounts of sessions in order, and null for unknown, wrong or ended ones',
  async (t) => {
    const [a, b] = [await newHolder(), await newHolder()];
    const named = (token: string) => {
      const name = parseSessionToken(token);
      return `${name?.id}.${name?.secretHash}`;
    };
    const lookUp = async (...sessions: string[]) => {
      const answer = await service.internally('/internal/sessions', { sessions });
      return (answer.body as { sessions: unknown[] }).sessions;
    };
    const wrong = `${a.sessionId}.${'0'.repeat(64)}`;
    const of = (holder: typeof a) => ({
      session_id: holder.sessionId,
      account_id: holder.accountId,
      plan: 'free',
      active: true,
      operator: 'no',
    });
    t.deepEqual(await lookUp(named(b.session_token), wrong, named(a.session_token), named(b.session_token)), [
      of(b),
      null,
      of(a),
      of(b),
    ]);
    await service.deps.db.accounts.update({ status: 'disabled' }, { where: { id: b.accountId } });
    t.deepEqual(await lookUp(named(b.session_token)), [null]);
    for (const sessions of [['x'], [`${a.sessionId}.short`], Array.from({ length: 501 }, () => wrong)]) {
      const answer = await service.internally('/internal/sessions', { sessions });
      const { message } = assertError(t, answer, 400, 'invalid_body');
      if (sessions.length === 1) t.is(message, '"sessions.0" must be the id and the SHA-256 of a session.');
    }
  },
);
