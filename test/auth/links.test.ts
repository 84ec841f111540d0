// Mailed links: each proves one mailbox to one account, for its own purpose, once, until something it is bound to changes.
import test from 'ava';
import { fakeClock } from '../services/harness.ts';
import { projectPlans, startServices } from '../services/services.ts';
import { from, newPassword, startMailbox, tokenIn } from '../services/sign-in.ts';
import { codeOf, dataIn, peopleOf, sessionIn } from './people.ts';

const clock = fakeClock('2026-11-20T10:00:00.000Z');
const mailbox = await startMailbox();
// Plans without a limit per second, which is not tested here.
const all = projectPlans().all.map((plan) => ({ ...plan, calls_second: 10_000 }));
const plans = { ...projectPlans(), all, get: (id: string) => all.find((plan) => plan.id === id) };
const services = await startServices({
  clock,
  plans,
  mail: { smtpUrl: mailbox.smtpUrl },
});
const people = peopleOf(services);
const { ask, post, get, logIn, newPerson } = people;
test.after.always(async () => {
  await services.close();
  await mailbox.close();
});

const isIn = async (session: string) => (await get('/v1/account', session)).status === 200;

test.serial(
  'a new e-mail address takes effect only once it is confirmed with the password, and the old one is notified',
  async (t) => {
    const { email, password, session } = await newPerson();
    const next = `new-${email}`;
    t.is(codeOf(await ask('PATCH', '/v1/account', { session, body: { email: next } })), 'invalid_body');
    const wrong = { email: next, password: newPassword() };
    t.is(
      codeOf(await ask('PATCH', '/v1/account', { session, body: wrong, headers: from() })),
      'invalid_credentials',
    );
    const asked = await ask('PATCH', '/v1/account', {
      session,
      body: { email: next, password },
      headers: from(),
    });
    t.is(asked.status, 200, asked.text);
    t.like(asked.json, { data: { email } });
    await mailbox.next(email, 'new e-mail address was requested');
    const token = tokenIn(await mailbox.next(next, 'Confirm your new'));
    const stranger = { token, password: newPassword() };
    t.is(
      codeOf(await ask('POST', '/auth/verify-email', { body: stranger, headers: from() })),
      'invalid_credentials',
    );
    const answer = await ask('POST', '/auth/verify-email', { body: { token, password }, headers: from() });
    t.is(answer.status, 200, answer.text);
    t.like((await get('/v1/account', sessionIn(answer))).json, {
      data: { email: next, email_verified: true },
    });
    t.false(await isIn(session));
    await mailbox.next(email, 'was changed');
    t.truthy(await logIn(next, password));
  },
);

test.serial('a link mailed before a change of password or e-mail address is invalid after it', async (t) => {
  const { email, password, session } = await newPerson();
  await ask('POST', '/auth/forgot-password', { body: { email }, headers: from() });
  const token = tokenIn(await mailbox.next(email, 'Set a new password'));
  const changed = await post('/auth/change-password', { current: password, new: newPassword() }, session);
  t.is(changed.status, 200);
  const answer = await ask('POST', '/auth/set-password', {
    body: { token, password: newPassword() },
    headers: from(),
  });
  t.is(codeOf(answer), 'gone');

  // And the other way round: the link to a new e-mail address ends the one to a new password.
  const other = await newPerson();
  const asked = { email: `moved-${other.email}`, password: other.password };
  await ask('PATCH', '/v1/account', { session: other.session, body: asked, headers: from() });
  await ask('POST', '/auth/forgot-password', { body: { email: other.email }, headers: from() });
  const reset = tokenIn(await mailbox.next(other.email, 'Set a new password'));
  const moved = tokenIn(await mailbox.next(asked.email, 'Confirm your new'));
  const confirm = { token: moved, password: other.password };
  t.is((await ask('POST', '/auth/verify-email', { body: confirm, headers: from() })).status, 200);
  const late = { token: reset, password: newPassword() };
  t.is(codeOf(await ask('POST', '/auth/set-password', { body: late, headers: from() })), 'gone');
});

test.serial('a link is valid for its own purpose, its own hour and one use', async (t) => {
  const { email } = await newPerson();
  await ask('POST', '/auth/forgot-password', { body: { email }, headers: from() });
  const token = tokenIn(await mailbox.next(email, 'Set a new password'));
  const verify = { token, password: newPassword() };
  t.is(
    codeOf(await ask('POST', '/auth/verify-email', { body: verify, headers: from() })),
    'gone',
    'another purpose',
  );
  const weak = { token, password: 'password1' };
  t.is(codeOf(await ask('POST', '/auth/set-password', { body: weak, headers: from() })), 'invalid_body');
  const set = () =>
    ask('POST', '/auth/set-password', { body: { token, password: newPassword() }, headers: from() });
  const statuses = (await Promise.all(Array.from({ length: 5 }, set))).map(({ status }) => status);
  t.is(statuses.filter((status) => status === 200).length, 1);
  t.is(statuses.filter((status) => status === 410).length, 4);

  await ask('POST', '/auth/forgot-password', { body: { email }, headers: from() });
  const late = tokenIn(await mailbox.next(email, 'Set a new password'));
  clock.advance(60 * 60_000);
  const answer = await ask('POST', '/auth/set-password', {
    body: { token: late, password: newPassword() },
    headers: from(),
  });
  t.is(codeOf(answer), 'gone');
});

test.serial('a reset for an e-mail address that nobody had proved ends the keys made before', async (t) => {
  const { email, session } = await newPerson();
  const { key } = dataIn(await post('/v1/keys', { name: 'k' }, session)) as { key: string };
  await ask('POST', '/auth/forgot-password', { body: { email }, headers: from() });
  const token = tokenIn(await mailbox.next(email, 'Set a new password'));
  await ask('POST', '/auth/set-password', { body: { token, password: newPassword() }, headers: from() });
  t.is((await services.call('/v1/account', { key })).status, 401);
});

test.serial('the owner of the mailbox gets in while others attack the account from everywhere', async (t) => {
  const { email } = await newPerson();
  await ask('POST', '/auth/forgot-password', { body: { email }, headers: from() });
  const [token, password] = [tokenIn(await mailbox.next(email, 'Set a new password')), newPassword()];
  const set = await ask('POST', '/auth/set-password', { body: { token, password }, headers: from() });
  const { device_token } = dataIn(set);
  const attack = Array.from({ length: 12 }, () =>
    ask('POST', '/auth/login', { body: { email, password: newPassword() }, headers: from() }),
  );
  t.true((await Promise.all(attack)).some(({ status }) => status === 429));
  const body = { email, password, device_token };
  t.is((await ask('POST', '/auth/login', { body, headers: from() })).status, 200);
});

test.serial('the session of one account confirms no link of another, and the password does', async (t) => {
  const [a, b] = [await newPerson(), await newPerson()];
  const token = tokenIn(await mailbox.next(a.email, 'Confirm'));
  const asB = { body: { token }, session: b.session, headers: from() };
  t.is(codeOf(await ask('POST', '/auth/verify-email', asB)), 'invalid_body', 'the password is asked for');
  const wrong = { token, password: b.password };
  t.is(
    codeOf(await ask('POST', '/auth/verify-email', { body: wrong, headers: from() })),
    'invalid_credentials',
  );
  const asA = await ask('POST', '/auth/verify-email', {
    body: { token },
    session: a.session,
    headers: from(),
  });
  t.is(asA.status, 200, asA.text);
  t.false(await isIn(a.session), 'a confirmed e-mail address makes a new session');
  t.true(await isIn(sessionIn(asA)));
  t.is(codeOf(await ask('POST', '/auth/verify-email/resend', { session: sessionIn(asA) })), 'conflict');
});

test.serial('a verification is mailed again only for a signed-in session', async (t) => {
  const { email, session } = await newPerson();
  await mailbox.next(email, 'Confirm');
  t.is((await ask('POST', '/auth/verify-email/resend', { headers: from() })).status, 401);
  t.is((await ask('POST', '/auth/verify-email/resend', { session, headers: from() })).status, 202);
  t.truthy(tokenIn(await mailbox.next(email, 'Confirm')));
});

test.serial('a password cannot be set over one that exists, nor without a session', async (t) => {
  const { session } = await newPerson();
  t.is(codeOf(await post('/auth/set-password', { password: newPassword() }, session)), 'conflict');
  t.is(
    codeOf(await ask('POST', '/auth/set-password', { body: { password: newPassword() }, headers: from() })),
    'unauthorized',
  );
});

test.serial(
  'an e-mail address in another script or with a display name is refused, so it cannot impersonate one',
  async (t) => {
    for (const email of [
      'a@bücher.example',
      'А@example.org',
      'a@example.org\u200b',
      'A <a@example.org>',
      ' a@example.org',
      'a@b@c.org',
    ]) {
      const body = { email, password: newPassword() };
      t.is(codeOf(await ask('POST', '/auth/signup', { body, headers: from() })), 'invalid_body', email);
    }
  },
);
