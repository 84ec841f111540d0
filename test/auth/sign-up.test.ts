// /auth/signup and /auth/verify-email with mail: creating the account requires both the mailbox and the password.
import test from 'ava';
import { mailJobs } from './mail-jobs.ts';
import { startServices } from '../services/services.ts';
import { from, newEmail, newPassword, startMailbox, tokenIn } from '../services/sign-in.ts';
import { fakeClock } from '../services/harness.ts';
import { codeOf, peopleOf, sessionIn } from './people.ts';

const clock = fakeClock('2026-11-20T10:00:00.000Z');
const mailbox = await startMailbox();
const services = await startServices({
  clock,
  signIn: { mailGoesOut: true },
  mail: { smtpUrl: mailbox.smtpUrl },
});
const { ask, get, newPerson } = peopleOf(services, mailbox);
test.after.always(async () => {
  await services.close();
  await mailbox.close();
});

const accountsOf = (email: string) =>
  services.database.query<{ n: number }>(
    'select count(*)::int as n from accounts.accounts where lower(email) = lower($1)',
    [email],
  );

test('sign-up answers the same for a known and an unknown e-mail address, and only the e-mail differs', async (t) => {
  const known = await newPerson();
  const [body, password] = [(email: string) => ({ email, password, name: 'N' }), newPassword()];
  const stranger = newEmail();
  const headers = from();
  const toKnown = await ask('POST', '/auth/signup', { body: body(known.email), headers });
  const toStranger = await ask('POST', '/auth/signup', { body: body(stranger), headers });
  t.is(toKnown.status, 202);
  t.is(toStranger.status, 202);
  t.is(toKnown.text.replace(known.email, stranger), toStranger.text);
  const names = (answer: typeof toKnown) => [...answer.headers.keys()].sort();
  t.deepEqual(names(toKnown), names(toStranger));
  t.regex((await mailbox.next(known.email)).subject, /account already/);
  t.regex((await mailbox.next(stranger)).subject, /Confirm/);
  t.is((await accountsOf(stranger))[0]?.n, 0, 'without the click there is no account');
});

test('the link needs the password of its sign-up, works once, and survives a wrong password', async (t) => {
  const [email, password] = [newEmail(), newPassword()];
  const headers = from();
  await ask('POST', '/auth/signup', { body: { email, password }, headers });
  const token = tokenIn(await mailbox.next(email));
  t.is(codeOf(await ask('POST', '/auth/verify-email', { body: { token }, headers })), 'invalid_body');
  const wrong = { token, password: newPassword() };
  t.is(codeOf(await ask('POST', '/auth/verify-email', { body: wrong, headers })), 'invalid_credentials');
  const right = await ask('POST', '/auth/verify-email', { body: { token, password }, headers });
  t.is(right.status, 200, right.text);
  t.like((await get('/v1/account', sessionIn(right))).json, {
    data: { email, email_verified: true, plan: 'free' },
  });
  t.is(codeOf(await ask('POST', '/auth/verify-email', { body: { token, password }, headers })), 'gone');
});

test('a stranger’s sign-up for somebody else’s e-mail address never becomes an account with the stranger’s password', async (t) => {
  const email = newEmail();
  const [strangers, owners] = [newPassword(), newPassword()];
  const headers = from();
  await ask('POST', '/auth/signup', { body: { email, password: strangers }, headers });
  const first = tokenIn(await mailbox.next(email));
  await ask('POST', '/auth/signup', { body: { email, password: owners }, headers });
  const second = tokenIn(await mailbox.next(email));
  const verify = (token: string, password: string) =>
    ask('POST', '/auth/verify-email', { body: { token, password }, headers });
  // Whichever link the owner opens, the owner's password creates the owner's account.
  const made = await verify(first, owners);
  t.is(made.status, 200, made.text);
  t.is(codeOf(await verify(first, strangers)), 'gone');
  t.is(codeOf(await verify(second, strangers)), 'gone');
  const login = await ask('POST', '/auth/login', { body: { email, password: strangers }, headers });
  t.is(codeOf(login), 'invalid_credentials');
});

test('strangers who sign up an e-mail address keep its owner neither from signing up nor from a new password', async (t) => {
  const [known, stranger] = [await newPerson(), newEmail()];
  const signUp = (email: string, password = newPassword()) =>
    ask('POST', '/auth/signup', { body: { email, password }, headers: from() });
  const mailed = async (email: string) => {
    const signUps = await services.database.query<{ id: string }>(
      'select id from accounts.signups where email = $1',
      [email],
    );
    const ids = new Set(signUps.map(({ id }) => id));
    const jobs = await mailJobs(services.databaseUrl);
    return jobs.filter(({ data }) => data.mail === 'sign_up' && ids.has(data.signupId)).length;
  };
  for (const email of [known.email, stranger]) for (let i = 0; i < 3; i += 1) await signUp(email);

  const own = newPassword();
  const [toKnown, toStranger] = [await signUp(known.email), await signUp(stranger, own)];
  t.is(toStranger.status, 202, toStranger.text);
  t.is(toKnown.text.replace(known.email, stranger), toStranger.text);
  t.is(await mailed(known.email), 2); // and the one that created the account
  t.is(await mailed(stranger), 3);
  const body = { token: tokenIn(await mailbox.next(stranger)), password: own };
  const made = await ask('POST', '/auth/verify-email', { body, headers: from() });
  t.is(made.status, 200, made.text);

  const asked = await ask('POST', '/auth/forgot-password', {
    body: { email: known.email },
    headers: from(),
  });
  t.is(asked.status, 202, asked.text);
  const there = await mailbox.next(known.email, 'account already');
  await mailbox.next(known.email, 'Set a new password');
  t.regex(there.text, /https:\/\/almanac\.example\/dashboard\/set-password#token=/);
  const set = { token: tokenIn(there), password: newPassword() };
  t.is((await ask('POST', '/auth/set-password', { body: set, headers: from() })).status, 200);
});

test('opening the link does not use it: it stays valid after GET and HEAD', async (t) => {
  const [email, password] = [newEmail(), newPassword()];
  const headers = from();
  await ask('POST', '/auth/signup', { body: { email, password }, headers });
  const mail = await mailbox.next(email);
  const token = tokenIn(mail);
  t.is((await ask('GET', `/auth/verify-email?token=${token}`, { headers })).status, 405);
  t.is((await ask('HEAD', `/auth/verify-email?token=${token}`, { headers })).status, 405);
  t.is((await ask('POST', '/auth/verify-email', { body: { token, password }, headers })).status, 200);
});

test('of 20 concurrent uses of a link, one succeeds', async (t) => {
  const [email, password] = [newEmail(), newPassword()];
  await ask('POST', '/auth/signup', { body: { email, password }, headers: from() });
  const token = tokenIn(await mailbox.next(email));
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      ask('POST', '/auth/verify-email', { body: { token, password }, headers: from() }),
    ),
  );
  t.is(answers.filter(({ status }) => status === 200).length, 1);
  t.is((await accountsOf(email))[0]?.n, 1);
});

// Serial, as a full password queue answers 503.
test.serial(
  '50 concurrent sign-ups of one e-mail address, in any letter case, make exactly one account',
  async (t) => {
    const [email, password] = [newEmail(), newPassword()];
    const spell = (i: number) => (i % 2 === 0 ? email : email.toUpperCase());
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        ask('POST', '/auth/signup', { body: { email: spell(i), password }, headers: from() }),
      ),
    );
    t.deepEqual([...new Set(answers.map(({ status }) => status))], [202]);
    const tokens = [];
    for (let i = 0; i < 3; i += 1) tokens.push(tokenIn(await mailbox.next(email)));
    await Promise.all(
      tokens.map((token) =>
        ask('POST', '/auth/verify-email', { body: { token, password }, headers: from() }),
      ),
    );
    t.is((await accountsOf(email))[0]?.n, 1);
  },
);

test('a link expires after a day, and links have the configured URL whatever Host a client sends', async (t) => {
  const [email, password] = [newEmail(), newPassword()];
  const headers = { ...from(), 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' };
  await ask('POST', '/auth/signup', { body: { email, password }, headers });
  const mail = await mailbox.next(email);
  t.regex(mail.text, /https:\/\/almanac\.example\/dashboard\/verify-email#token=/);
  t.false(mail.raw.includes('evil.example'));
  const day = 24 * 60 * 60_000;
  t.deepEqual(
    await services.database.query('select expires_at from accounts.signups where email = $1', [email]),
    [{ expires_at: new Date(clock.now().getTime() + day) }],
  );
  const click = () =>
    ask('POST', '/auth/verify-email', { body: { token: tokenIn(mail), password }, headers: from() });
  // Mailing a sign-up again does not extend it, so its link may outlive it.
  const ends = (table: string, at: Date) =>
    services.database.query(`update accounts.${table} set expires_at = $1 where email = $2`, [at, email]);
  await ends('signups', clock.now());
  t.is(codeOf(await click()), 'gone');
  await ends('signups', new Date(clock.now().getTime() + day));
  await ends('mail_tokens', clock.now());
  t.is(codeOf(await click()), 'gone');
});

test('weak, short and overlong passwords are refused before anything is stored', async (t) => {
  for (const password of ['short7!', 'password1', 'P@ssw0rd2024!', 'x'.repeat(257)]) {
    const email = newEmail();
    const answer = await ask('POST', '/auth/signup', { body: { email, password }, headers: from() });
    t.is(codeOf(answer), 'invalid_body', password);
    t.like(answer.json, { error: { param: 'password' } });
  }
});

test('bodies of 5 MB and of 5 KB are 413, arrays and objects in place of text 400, form posts 415', async (t) => {
  const huge = await ask('POST', '/auth/login', {
    body: `{"email":"${'x'.repeat(5_000_000)}"}`,
    headers: from(),
  });
  t.is(huge.status, 413);
  t.is(
    (await ask('POST', '/auth/login', { body: { email: 'x'.repeat(5_000) }, headers: from() })).status,
    413,
  );
  for (const body of [
    { email: ['a@example.org'], password: 'x' },
    { email: { $gt: '' }, password: 'x' },
    { email: 'a@example.org', password: { length: 12 } },
    '{"__proto__":{"email":"a@example.org","password":"x"}}',
    '{"email":"a@example.org","password":"x","constructor":{}}',
    '[]',
    '"x"',
  ]) {
    t.is((await ask('POST', '/auth/login', { body, headers: from() })).status, 400, JSON.stringify(body));
  }
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const headers = { ...from(), 'content-type': type, origin: 'https://evil.example' };
    const answer = await ask('POST', '/auth/login', {
      body: '{"email":"a@example.org","password":"x"}',
      headers,
    });
    t.is(answer.status, 415, type);
    t.is(answer.headers.get('access-control-allow-origin'), null);
  }
});

test('without mail a sign-up makes an account and a session at once, not verified; a known e-mail address is refused', async (t) => {
  const open = await startServices();
  try {
    const people = peopleOf(open);
    const person = await people.newPerson();
    t.like((await people.get('/v1/account', person.session)).json, {
      data: { email_verified: false, has_password: true },
    });
    const again = await people.post('/auth/signup', {
      email: person.email.toUpperCase(),
      password: newPassword(),
    });
    t.is(codeOf(again), 'email_taken');
  } finally {
    await open.close();
  }
});
