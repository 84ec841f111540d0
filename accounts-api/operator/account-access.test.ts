// The operator's commands for access to an account, next to a running service that sends mail.
import test from 'ava';
import { silentLog } from '../../test/services/harness.ts';
import { startServices } from '../../test/services/services.ts';
import { newPassword, startMailbox, tokenIn } from '../../test/services/sign-in.ts';
import { codeOf, dataIn, peopleOf } from '../../test/auth/people.ts';
import { openJobs } from '../jobs/jobs.ts';
import { createAccount, createKey, listKeys, revokeKey, rotateKey } from './operator.ts';
import { sendReset, setPassword, setStatus } from './account-access.ts';

const mailbox = await startMailbox();
const services = await startServices({ mail: { smtpUrl: mailbox.smtpUrl } });
const { post, get, logIn, newPerson } = peopleOf(services);
const jobs = openJobs(services.accounts.db.sequelize, services.databaseUrl, silentLog);
const deps = { ...services.accounts, jobs };
test.after.always(async () => {
  await jobs.close();
  await services.close();
  await mailbox.close();
});

const actionsOf = async (email: string) => {
  const account = await deps.db.accounts.findOne({ where: { email } });
  const where = { accountId: account?.id ?? '', actorKind: 'operator' as const };
  const events = await deps.db.auditEvents.findAll({ where, order: ['eventNo'] });
  return events.map(({ action }) => action);
};
const isIn = async (session: string) => (await get('/v1/account', session)).status === 200;
const serves = async (key: string) => (await services.call('/v1/account', { key })).status === 200;

test('a password set by the operator works, ends every session, and is announced by e-mail', async (t) => {
  const { email, password, session } = await newPerson();
  const next = newPassword();
  await setPassword(deps, email, { password: next, lengthMin: 8 });
  t.false(await isIn(session));
  t.is(codeOf(await post('/auth/login', { email, password })), 'invalid_credentials');
  t.truthy(await logIn(email, next));
  t.regex((await mailbox.next(email, 'was changed')).text, /If it was not you/);
  t.deepEqual(await actionsOf(email), ['password.changed']);
  for (const weak of ['short', 'password1', email]) {
    await t.throwsAsync(setPassword(deps, email, { password: weak, lengthMin: 8 }), { code: 'invalid_body' });
  }
});

test('the operator e-mails the link to a first password', async (t) => {
  const { email } = await createAccount(deps, { email: 'no-password@example.org', plan: 'free' });
  await sendReset(deps, email.toUpperCase());
  const token = tokenIn(await mailbox.next(email, 'Set a new password'));
  const password = newPassword();
  t.is((await post('/auth/set-password', { token, password })).status, 200);
  t.truthy(await logIn(email, password));
  await t.throwsAsync(sendReset(deps, 'nobody@example.org'), { code: 'not_found' });
});

test('a disabled account is closed on the next request: its keys, its sessions, its links; its keys work again afterwards', async (t) => {
  const { email, password, session } = await newPerson();
  const key = String(dataIn(await post('/v1/keys', { name: 'k' }, session))['key']);
  await sendReset(deps, email);
  const token = tokenIn(await mailbox.next(email, 'Set a new password'));
  t.like(await setStatus(deps, email, 'disabled'), { status: 'disabled' });
  t.deepEqual([await isIn(session), await serves(key)], [false, false]);
  t.is(codeOf(await post('/auth/login', { email, password })), 'forbidden');
  await t.throwsAsync(sendReset(deps, email), { code: 'conflict' });
  await setStatus(deps, email, 'disabled');
  t.like(await setStatus(deps, email, 'active'), { status: 'active' });
  t.deepEqual([await isIn(session), await serves(key)], [false, true]);
  t.is(codeOf(await post('/auth/set-password', { token, password: newPassword() })), 'gone');
  t.truthy(await logIn(email, password));
  t.deepEqual(await actionsOf(email), ['account.disabled', 'account.enabled']);
});

test('a sign-in that races the disabling of its account opens no session', async (t) => {
  const { email, password } = await newPerson();
  const [answer] = await Promise.all([
    post('/auth/login', { email, password }),
    setStatus(deps, email, 'disabled'),
  ]);
  await setStatus(deps, email, 'active');
  const token = String((answer.json as { data?: { session_token: string } }).data?.session_token);
  t.false(await isIn(token));
});

test('the old value of a key rotated by an operator without overlap stops with the answer; the key keeps its id and name', async (t) => {
  const { email } = await createAccount(deps, { email: 'rotates@example.org', plan: 'free' });
  const keys = await Promise.all(['one', 'two', 'three'].map((name) => createKey(deps, email, name)));
  const { id, key } = keys[1] ?? { id: '', key: '' };
  const next = await rotateKey(deps, id, 0);
  t.like(next, { id, name: 'two', status: 'active', expires_at: null });
  t.deepEqual([await serves(key), await serves(next.key)], [false, true]);
  t.is((await listKeys(deps, email)).filter(({ status }) => status === 'active').length, 3);
  const last = await rotateKey(deps, next.key);
  t.deepEqual([await serves(next.key), await serves(last.key)], [true, true]);
  await t.throwsAsync(rotateKey(deps, id), { code: 'conflict' });
  await t.throwsAsync(rotateKey(deps, id, 169), { code: 'invalid_body' });
  await revokeKey(deps, id);
  await t.throwsAsync(rotateKey(deps, last.key, 0), { code: 'conflict' });
  t.deepEqual([await serves(next.key), await serves(last.key)], [false, false]);
  t.deepEqual((await actionsOf(email)).slice(-3), ['key.rotated', 'key.rotated', 'key.revoked']);
});
