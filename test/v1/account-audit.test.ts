// /v1/account/audit: every change of an account leaves one row that says who did what to what; its holder can read it.
import { instantText } from '../../kernel/clock.ts';
import test, { type ExecutionContext } from 'ava';
import { newId } from '../../accounts-api/ids.ts';
import { createBilling } from '../../accounts-api/billing/connection.ts';
import { askForCustomer } from '../../accounts-api/billing/inbox.sql.ts';
import { syncDue } from '../billing/sync-due.ts';
import { actions, type Action } from '../../accounts-api/models/audit-event.ts';
import { openJobs } from '../../accounts-api/jobs.ts';
import {
  createAccount,
  createKey,
  revokeKey,
  rotateKey,
  setPlan,
} from '../../accounts-api/operator/operator.ts';
import {
  removeSecondFactor,
  setPassword,
  setRole,
  setStatus,
} from '../../accounts-api/operator/operator-access.ts';
import {
  assertError,
  startAccountsService,
  type Answer,
  type Client,
  type SignedIn,
} from '../services/accounts-service.ts';
import { enrolHolder } from '../auth/authenticator.ts';
import { comeBackFromGoogle, holdersOf, signInByGoogle, type Holder } from '../auth/holders.ts';
import { passkeysOf } from '../auth/passkey-authenticator.ts';
import { startOddIssuer } from '../auth/issuers.ts';
import { settingsOf } from '../billing/paying.ts';
import { fakeClock, silentLog } from '../services/harness.ts';
import { startStripe } from '../stripe/stripe.ts';
import { newEmail, newIp, newPassword } from '../services/sign-in.ts';
import { until } from '../run/until.ts';
import { createUnsubscribeTokens } from '../../accounts-api/follows/unsubscribe-tokens.ts';
import { testWebhooks } from '../webhooks/settings.ts';
import { newWebhook } from '../webhooks/endpoints.ts';
import { startReceiver, startWebhookWorker } from '../webhooks/receiver.ts';

const issuer = await startOddIssuer();
const fake = await startStripe({ clock: fakeClock('2026-11-20T10:00:00.000Z') });
const { id: price } = fake.addPrice({ lookupKey: 'almanac_pro_month', amount: 9_900 });
const service = await startAccountsService(undefined, undefined, {
  signIn: { google: issuer.settings },
  stripe: settingsOf(fake),
});

const { password, newHolder, newSession, newSignUp, mailLink } = await holdersOf(service);
const passkeys = passkeysOf(service);
const jobs = openJobs(service.deps.db.sequelize, service.databaseUrl, silentLog);
const operatorDeps = { ...service.deps, jobs };
const billingDeps = { ...operatorDeps, log: silentLog, billing: createBilling(settingsOf(fake)) };
test.after.always(async () => {
  await jobs.close();
  await service.close();
  await issuer.close();
  await fake.close();
});

const ip = newIp();
const headers = { 'x-forwarded-for': ip, 'user-agent': 'Tests' };

interface Expected {
  accountId: string;
  actor: { kind: 'key' | 'session' | 'operator' | 'visitor' | 'system' | 'stripe'; id: string | null };
  subject: string;
  detail: object;
}
/** Does one thing that leaves a row of the action. @returns what the row must say. */
type Act = (t: ExecutionContext) => Promise<Expected>;

const operator = { kind: 'operator', id: null } as const;
const byOperator = ({ accountId }: { accountId: string }) => ({ kind: 'operator', id: accountId }) as const;
const visitor = { kind: 'visitor', id: null } as const;
const byStripe = { kind: 'stripe', id: null } as const;
const bySession = ({ sessionId }: { sessionId: string }) => ({ kind: 'session', id: sessionId }) as const;
const byKey = ({ keyId }: { keyId: string }) => ({ kind: 'key', id: keyId }) as const;

function done(t: ExecutionContext, answer: Answer): Record<string, unknown> {
  t.true(answer.status < 300, JSON.stringify(answer.body));
  return answer.body === '' ? {} : (answer.body as { data: Record<string, unknown> }).data;
}

/** What a row about the account itself says. */
const ofAccount = ({ accountId }: { accountId: string }, actor: Expected['actor'], detail: object = {}) => ({
  accountId,
  actor,
  subject: accountId,
  detail,
});

/** What the row of a new session says: the session is who acts and what is made. */
const ofNewSession = ({ accountId, sessionId }: Pick<Holder, 'accountId' | 'sessionId'>, how: string) => ({
  accountId,
  actor: bySession({ sessionId }),
  subject: sessionId,
  detail: { how, ip, user_agent: 'Tests' },
});

/** The session that an answer signs somebody in to. */
const sessionOf = (answer: Record<string, unknown>) => String(answer['session_token']).split('.')[0] ?? '';

const accountIdOf = async (email: string) =>
  (await service.deps.db.accounts.findOne({ where: { email } }))?.id ?? '';

let people = 0;
/** Somebody at Google whose mailbox Google runs. */
const googlePerson = (email = `audited-${(people += 1)}@gmail.com`) => ({
  sub: `sub of ${email}`,
  email,
  email_verified: true,
});

const signUp = async (t: ExecutionContext) => {
  const email = newEmail();
  const body = { email, password: newPassword() };
  const sessionId = sessionOf(done(t, await service.anonymously('/auth/signup', { body, headers })));
  return { email, sessionId, accountId: await accountIdOf(email) };
};

const logIn = async (t: ExecutionContext) => {
  const { email, accountId } = await newHolder();
  const body = { email, password };
  const sessionId = sessionOf(done(t, await service.anonymously('/auth/login', { body, headers })));
  return { accountId, sessionId };
};

const confirm = async (t: ExecutionContext, purpose: 'verify_email' | 'change_email', to?: string) => {
  const holder = await newHolder({ verified: purpose === 'change_email' });
  const body = { token: await mailLink(holder, purpose, to) };
  const sessionId = sessionOf(
    done(t, await service.signedIn(holder, '/auth/verify-email', { body, headers })),
  );
  return { ...holder, sessionId };
};

const change = async (t: ExecutionContext, holder: Holder, body: object) =>
  done(t, await service.signedIn(holder, '/v1/account', { method: 'PATCH', body, headers }));

/** Sets a second factor up. @returns the recovery codes. */
const enrol = async (t: ExecutionContext, holder: Holder): Promise<string[]> => {
  const { recoveryCodes } = await enrolHolder(service, holder, { password, headers });
  t.is(recoveryCodes.length, 10);
  return recoveryCodes;
};

const changeAsOperator = async (t: ExecutionContext, by: Holder, { accountId }: Holder, body: object) =>
  done(t, await service.asOperator(by, `/v1/operator/accounts/${accountId}`, { method: 'PATCH', body }));

/** An account whose customer at Stripe has a subscription to pro. */
const newSubscriber = async () => {
  const client = await service.newClient();
  const customer = await billingDeps.billing.stripe.customers.create({
    metadata: { account_id: client.accountId },
  });
  const subscribe = () => fake.subscribe({ customer: customer.id, price });
  const { id } = subscribe();
  await fetchAgain(customer.id);
  return { ...client, customer: customer.id, id, subscribe };
};
const fetchAgain = async (customer: string) => {
  await askForCustomer(service.deps.db, null, customer, service.clock.now());
  await syncDue(billingDeps);
};
/** Has a holder take a purchase for the same mailbox. @returns the account that it was. */
const takeOne = async (t: ExecutionContext, holder: Holder) => {
  const id = newId('acct');
  const { email } = holder;
  const bought = { id, email, emailSignsIn: false, name: null, plan: 'free', createdAt: service.clock.now() };
  await service.deps.db.accounts.create(bought);
  const customer = await billingDeps.billing.stripe.customers.create({ metadata: { account_id: id } });
  fake.subscribe({ customer: customer.id, price });
  await fetchAgain(customer.id);
  done(t, await service.signedIn(holder, `/v1/billing/purchases/${id}/take`, { method: 'POST', headers }));
  return { id };
};
/** Whom and what a row about a passkey names. */
const ofPasskey = ({ accountId }: Holder, actor: Expected['actor'], subject: string) => ({
  accountId,
  actor,
  subject,
});
/** What a row about a key says. */
const ofKey = (
  { accountId }: { accountId: string },
  actor: Expected['actor'],
  key: { id: unknown; name: unknown; masked: unknown },
  detail: object = {},
) => ({
  accountId,
  actor,
  subject: String(key.id),
  detail: { name: key.name, masked: key.masked, ...detail },
});
async function rotatedKey(t: ExecutionContext) {
  const holder = await newHolder();
  const old = done(t, await service.signedIn(holder, '/v1/keys', { body: { name: 'k' }, headers }));
  const target = `/v1/keys/${String(old['id'])}/rotate`;
  const rotated = done(t, await service.signedIn(holder, target, { body: { overlap_hours: 1 }, headers }));
  return { holder, old, rotated };
}
/** What a key may do that was given nothing else. */
const unbound = { scopes: ['data', 'read', 'manage'], addresses: null };
const keyIn = (data: Record<string, unknown>) => ({
  id: data['id'],
  name: data['name'],
  masked: data['masked'],
});

const writers: Record<Action, Record<string, Act>> = {
  'account.created': {
    async 'a sign-up where no mail goes out'(t) {
      const { email, ...made } = await signUp(t);
      return ofAccount(made, visitor, { email, plan: 'free', ip });
    },
    async 'the link of a sign-up'(t) {
      const { email, token } = await newSignUp();
      done(t, await service.anonymously('/auth/verify-email', { body: { token, password }, headers }));
      return ofAccount({ accountId: await accountIdOf(email) }, visitor, { email, plan: 'free', ip });
    },
    async 'a first sign-in with Google'() {
      const claims = googlePerson();
      const begun = await service.anonymously('/auth/google/start');
      await comeBackFromGoogle(service, issuer, begun, claims, ip);
      const detail = { email: claims.email, plan: 'free', issuer: issuer.settings.issuer, ip };
      return ofAccount({ accountId: await accountIdOf(claims.email) }, visitor, detail);
    },
    async 'the operator'() {
      const email = newEmail();
      const { id: accountId } = await createAccount(service.deps, { email, plan: 'pro' });
      return ofAccount({ accountId }, operator, { email, plan: 'pro' });
    },
  },
  'account.updated': {
    async 'a new name, by session'(t) {
      const holder = await newHolder();
      await change(t, holder, { name: 'Ada' });
      return ofAccount(holder, bySession(holder), { name: 'Ada' });
    },
    async 'a new name, by key'(t) {
      const client = await service.newClient();
      done(t, await service.as(client, '/v1/account', { method: 'PATCH', body: { name: 'Ada' } }));
      return ofAccount(client, byKey(client), { name: 'Ada' });
    },
    async 'other notifications'(t) {
      const holder = await newHolder();
      await change(t, holder, { notifications: { usage: false } });
      return ofAccount(holder, bySession(holder), { notifications: { usage: false } });
    },
  },
  'account.plan_changed': {
    async 'the operator'() {
      const holder = await newHolder();
      await setPlan(service.deps, holder.email, 'pro');
      return ofAccount(holder, operator, { before: 'free', plan: 'pro' });
    },
    async 'an operator in the dashboard'(t) {
      const [holder, colleague] = [await newHolder(), await newHolder()];
      await changeAsOperator(t, colleague, holder, { plan: 'pro' });
      return ofAccount(holder, byOperator(colleague), { before: 'free', plan: 'pro' });
    },
  },
  'account.disabled': {
    async 'the operator'() {
      const holder = await newHolder();
      await setStatus(service.deps, holder.accountId, 'disabled');
      return ofAccount(holder, operator);
    },
    async 'an operator in the dashboard'(t) {
      const [holder, colleague] = [await newHolder(), await newHolder()];
      await changeAsOperator(t, colleague, holder, { status: 'disabled' });
      return ofAccount(holder, byOperator(colleague));
    },
  },
  'account.enabled': {
    async 'the operator'() {
      const holder = await newHolder();
      await setStatus(service.deps, holder.accountId, 'disabled');
      await setStatus(service.deps, holder.accountId, 'active');
      return ofAccount(holder, operator);
    },
    async 'an operator in the dashboard'(t) {
      const [holder, colleague] = [await newHolder(), await newHolder()];
      await setStatus(service.deps, holder.accountId, 'disabled');
      await changeAsOperator(t, colleague, holder, { status: 'active' });
      return ofAccount(holder, byOperator(colleague));
    },
  },
  'account.role_changed': {
    async 'the operator'() {
      const holder = await newHolder();
      await setRole(service.deps, holder.email, 'operator');
      return ofAccount(holder, operator, { before: null, role: 'operator' });
    },
  },
  'account.closed': {
    async 'its holder'(t) {
      const holder = await newHolder();
      done(t, await service.signedIn(holder, '/v1/account', { method: 'DELETE', headers }));
      return ofAccount(holder, bySession(holder));
    },
  },
  'email.verified': {
    async 'the link to the e-mail address of an account'(t) {
      const holder = await confirm(t, 'verify_email');
      return ofAccount(holder, visitor, { email: holder.email, ip });
    },
  },
  'email.change_asked': {
    async 'its holder'(t) {
      const holder = await newHolder({ hasPassword: false });
      const email = newEmail();
      await change(t, holder, { email });
      return ofAccount(holder, bySession(holder), { email });
    },
  },
  'email.changed': {
    async 'the link to the new e-mail address'(t) {
      const email = newEmail();
      const holder = await confirm(t, 'change_email', email);
      return ofAccount(holder, visitor, { email, ip, before: holder.email });
    },
  },
  'password.changed': {
    async 'its holder, by the present one'(t) {
      const holder = await newHolder();
      const body = { current: password, new: newPassword() };
      done(t, await service.signedIn(holder, '/auth/change-password', { body, headers }));
      return ofAccount(holder, bySession(holder), { ip });
    },
    async 'a mailed link'(t) {
      const holder = await newHolder();
      const body = { token: await mailLink(holder, 'reset_password'), password: newPassword() };
      done(t, await service.anonymously('/auth/set-password', { body, headers }));
      return ofAccount(holder, visitor, { ip });
    },
    async 'the operator'() {
      const holder = await newHolder();
      await setPassword(operatorDeps, holder.email, { password: newPassword(), lengthMin: 8 });
      return ofAccount(holder, operator);
    },
  },
  'password.set': {
    async 'its holder, after a recent sign-in'(t) {
      const holder = await newHolder({ hasPassword: false });
      const body = { password: newPassword() };
      done(t, await service.signedIn(holder, '/auth/set-password', { body, headers }));
      return ofAccount(holder, bySession(holder), { ip });
    },
    async 'a mailed link'(t) {
      const holder = await newHolder({ hasPassword: false });
      const body = { token: await mailLink(holder, 'reset_password'), password: newPassword() };
      done(t, await service.anonymously('/auth/set-password', { body, headers }));
      return ofAccount(holder, visitor, { ip });
    },
  },
  'session.created': {
    'a sign-up': async (t) => ofNewSession(await signUp(t), 'sign_up'),
    'a password': async (t) => ofNewSession(await logIn(t), 'password'),
    'a mailed link': async (t) => ofNewSession(await confirm(t, 'verify_email'), 'mailed_link'),
    async 'a new password'(t) {
      const holder = await newHolder();
      const body = { current: password, new: newPassword() };
      const answer = done(t, await service.signedIn(holder, '/auth/change-password', { body, headers }));
      return ofNewSession({ ...holder, sessionId: sessionOf(answer) }, 'password');
    },
    async Google(t) {
      const signedIn = await signInByGoogle(service, issuer, googlePerson(), ip);
      if ('error' in signedIn) return t.fail(String(signedIn.error));
      return ofNewSession(signedIn.session, 'google');
    },
  },
  'session.ended': {
    async 'signing out'(t) {
      const holder = await newHolder();
      done(t, await service.signedIn(holder, '/auth/logout', { method: 'POST', headers }));
      return { ...ofAccount(holder, bySession(holder)), subject: holder.sessionId };
    },
    async 'ending another one'(t) {
      const holder = await newHolder();
      const { sessionId: subject } = await newSession(holder.accountId);
      done(t, await service.signedIn(holder, `/auth/sessions/${subject}`, { method: 'DELETE', headers }));
      return { ...ofAccount(holder, bySession(holder)), subject };
    },
    async 'ending all others'(t) {
      const holder = await newHolder();
      await newSession(holder.accountId);
      await newSession(holder.accountId);
      done(t, await service.signedIn(holder, '/auth/sessions', { method: 'DELETE', headers }));
      return ofAccount(holder, bySession(holder), { others: 2 });
    },
  },
  'google.linked': {
    async 'a way to Google that its holder began'(t) {
      const holder = await newHolder();
      const begun = await service.signedIn(holder, '/auth/google/link', { method: 'POST', headers });
      const claims = googlePerson();
      const { result } = await comeBackFromGoogle(service, issuer, begun, claims, ip);
      t.is(result.get('google_linked'), '1');
      return ofAccount(holder, visitor, { issuer: issuer.settings.issuer, email: claims.email, ip });
    },
    async 'a sign-in with the e-mail address of an account that has proved it'() {
      const claims = googlePerson();
      const { id: accountId } = await createAccount(service.deps, { email: claims.email, plan: 'free' });
      const begun = await service.anonymously('/auth/google/start');
      await comeBackFromGoogle(service, issuer, begun, claims, ip);
      const detail = { issuer: issuer.settings.issuer, email: claims.email, ip };
      return ofAccount({ accountId }, visitor, detail);
    },
  },
  'totp.enrolled': {
    async 'its holder, by a first code'(t) {
      const holder = await newHolder();
      await enrol(t, holder);
      return ofAccount(holder, bySession(holder), { ip });
    },
  },
  'totp.removed': {
    async 'its holder, by password and code'(t) {
      const holder = await newHolder();
      const [code] = await enrol(t, holder);
      const body = { password, code };
      done(t, await service.signedIn(holder, '/auth/second-factor/turn-off', { body, headers }));
      return ofAccount(holder, bySession(holder), { ip });
    },
    async 'the operator'(t) {
      const holder = await newHolder();
      await enrol(t, holder);
      await removeSecondFactor(operatorDeps, holder.email);
      return ofAccount(holder, operator);
    },
    async 'the first proof of the mailbox, which ends what others have set up'(t) {
      const holder = await newHolder({ verified: false });
      await enrol(t, holder);
      const body = { token: await mailLink(holder, 'reset_password'), password: newPassword() };
      done(t, await service.anonymously('/auth/set-password', { body, headers }));
      return ofAccount(holder, visitor);
    },
  },
  'recovery.codes_made': {
    async 'its holder, by password and code'(t) {
      const holder = await newHolder();
      const [code] = await enrol(t, holder);
      const body = { password, code };
      done(t, await service.signedIn(holder, '/auth/second-factor/recovery-codes', { body, headers }));
      return ofAccount(holder, bySession(holder), { ip });
    },
  },
  'recovery.code_used': {
    async 'its holder, signed in'(t) {
      const holder = await newHolder();
      const [code] = await enrol(t, holder);
      const body = { password, code };
      done(t, await service.signedIn(holder, '/auth/second-factor/recovery-codes', { body, headers }));
      return ofAccount(holder, bySession(holder), { left: 9, ip });
    },
    async 'somebody who signs in'(t) {
      const holder = await newHolder();
      const [code] = await enrol(t, holder);
      const { email, accountId } = holder;
      const first = done(t, await service.anonymously('/auth/login', { body: { email, password }, headers }));
      const body = { sign_in_token: first['sign_in_token'], code };
      done(t, await service.anonymously('/auth/login/second-factor', { body, headers }));
      return ofAccount({ accountId }, visitor, { left: 9, ip });
    },
  },
  'passkey.added': {
    async 'its holder'() {
      const holder = await newHolder();
      const { id } = await passkeys.add(holder, { password }, { headers });
      return { ...ofPasskey(holder, bySession(holder), id), detail: { name: 'Laptop', ip } };
    },
  },
  'passkey.renamed': {
    async 'its holder'(t) {
      const holder = await newHolder();
      const { id } = await passkeys.add(holder, { password }, { headers });
      const body = { name: 'Phone' };
      done(t, await service.signedIn(holder, `/auth/passkeys/${id}`, { method: 'PATCH', body, headers }));
      return { ...ofPasskey(holder, bySession(holder), id), detail: { before: 'Laptop', name: 'Phone' } };
    },
  },
  'passkey.removed': {
    async 'its holder, by the password'(t) {
      const holder = await newHolder();
      const { id } = await passkeys.add(holder, { password }, { headers });
      const body = { password };
      done(t, await service.signedIn(holder, `/auth/passkeys/${id}/remove`, { body, headers }));
      return { ...ofPasskey(holder, bySession(holder), id), detail: { name: 'Laptop', ip } };
    },
    async 'the operator'() {
      const holder = await newHolder();
      const { id } = await passkeys.add(holder, { password }, { headers });
      await removeSecondFactor(operatorDeps, holder.email);
      return { ...ofPasskey(holder, operator, id), detail: { name: 'Laptop' } };
    },
    async 'the first proof of the mailbox, which ends what others have set up'(t) {
      const holder = await newHolder({ verified: false });
      const { id } = await passkeys.add(holder, { password }, { headers });
      const body = { token: await mailLink(holder, 'reset_password'), password: newPassword() };
      done(t, await service.anonymously('/auth/set-password', { body, headers }));
      return { ...ofPasskey(holder, visitor, id), detail: { name: 'Laptop' } };
    },
  },
  'passkey.refused': {
    async 'somebody whose passkey may be a copy'(t) {
      const holder = await newHolder();
      const made = await passkeys.add(holder, { password }, { headers });
      t.is((await passkeys.signIn(made.passkey, { count: 5 }, headers)).status, 200);
      t.is((await passkeys.signIn(made.passkey, { count: 5 }, headers)).status, 401);
      const detail = { name: 'Laptop', count: { stored: 5, signed: 5 }, ip };
      return { ...ofPasskey(holder, visitor, made.id), detail };
    },
  },
  'google.unlinked': {
    async 'its holder'(t) {
      const holder = await newHolder();
      const begun = await service.signedIn(holder, '/auth/google/link', { method: 'POST', headers });
      await comeBackFromGoogle(service, issuer, begun, googlePerson(), ip);
      done(t, await service.signedIn(holder, '/auth/google/link', { method: 'DELETE', headers }));
      return ofAccount(holder, bySession(holder));
    },
  },
  'key.created': {
    async 'its holder, by session'(t) {
      const holder = await newHolder();
      const body = { name: 'laptop', expires_at: '2027-01-31T00:00:00Z' };
      const key = keyIn(done(t, await service.signedIn(holder, '/v1/keys', { body, headers })));
      return ofKey(holder, bySession(holder), key, { expires_at: '2027-01-31T00:00:00Z', ...unbound });
    },
    async 'its holder, by another key'(t) {
      const client = await service.newClient();
      const key = keyIn(done(t, await service.as(client, '/v1/keys', { body: { name: 'next' } })));
      return ofKey(client, byKey(client), key, { expires_at: null, ...unbound });
    },
    async 'the operator'() {
      const holder = await newHolder();
      const key = await createKey(service.deps, holder.accountId, 'from the console');
      return ofKey(holder, operator, key, { expires_at: null, ...unbound });
    },
    async 'the operator, in the place of another'() {
      const client = await service.newClient();
      return ofKey(client, operator, await rotateKey(service.deps, client.keyId), {
        expires_at: null,
        ...unbound,
      });
    },
  },
  'subscription.updated': {
    async 'the first fetch of a subscription'() {
      const who = await newSubscriber();
      const end = instantText(
        new Date((fake.subscription(who.id).items.data[0]?.current_period_end ?? 0) * 1000),
      );
      const none = { current_period_end: null, cancels_at: null, grace_ends_at: null };
      return ofAccount(who, byStripe, {
        before: { plan: 'free', state: 'none', status: null, ...none },
        ...{ plan: 'pro', state: 'active', status: 'active', ...none, current_period_end: end },
      });
    },
  },
  'purchase.taken': {
    async 'the holder of the mailbox that a payer has named'(t) {
      const holder = await newHolder();
      const { id } = await takeOne(t, holder);
      return { ...ofAccount(holder, bySession(holder), { plan: 'pro' }), subject: id };
    },
  },
  'subscription.duplicate_canceled': {
    async 'a second subscription'() {
      const who = await newSubscriber();
      fake.override(who.id, { created: 1 });
      const { id } = who.subscribe();
      await fetchAgain(who.customer);
      return ofAccount(who, byStripe, {
        ...{ subscription: id, kept: who.id, customer: who.customer },
        ...{ invoice: fake.subscription(id).latest_invoice, paid: { amount: 9_900, currency: 'usd' } },
      });
    },
  },
  'payment.failed': {
    async 'a payment that failed'() {
      const who = await newSubscriber();
      const { id: invoice } = fake.failPayment(who.id);
      await fetchAgain(who.customer);
      const next = fake.invoice(invoice).next_payment_attempt ?? 0;
      const next_attempt_at = instantText(new Date(next * 1000));
      return ofAccount(who, byStripe, { invoice, amount_due: 9_900, currency: 'usd', next_attempt_at });
    },
  },
  'key.renamed': {
    async 'its holder, by session'(t) {
      const holder = await newHolder();
      const made = done(t, await service.signedIn(holder, '/v1/keys', { body: { name: 'k' }, headers }));
      const target = `/v1/keys/${String(made['id'])}`;
      const body = { name: 'Production' };
      const renamed = done(t, await service.signedIn(holder, target, { method: 'PATCH', body, headers }));
      return ofKey(holder, bySession(holder), keyIn(renamed), { before: 'k' });
    },
  },
  'key.access_changed': {
    async 'its holder, by session'(t) {
      const holder = await newHolder();
      const made = done(t, await service.signedIn(holder, '/v1/keys', { body: { name: 'k' }, headers }));
      const target = `/v1/keys/${String(made['id'])}`;
      const body = { scopes: ['data'], addresses: ['203.0.113.7'] };
      const changed = done(t, await service.signedIn(holder, target, { method: 'PATCH', body, headers }));
      const before = { scopes: ['data', 'read', 'manage'], addresses: null };
      return ofKey(holder, bySession(holder), keyIn(changed), { before, ...body });
    },
  },
  'key.rotated': {
    async 'its holder, by session'(t) {
      const { holder, old, rotated } = await rotatedKey(t);
      const detail = { old_value: old['masked'], old_value_ends_at: rotated['old_value_ends_at'] };
      return ofKey(holder, bySession(holder), keyIn(rotated), detail);
    },
  },
  'key.old_value_ended': {
    async 'its holder, by session'(t) {
      const { holder, old, rotated } = await rotatedKey(t);
      const target = `/v1/keys/${String(old['id'])}/old-value`;
      done(t, await service.signedIn(holder, target, { method: 'DELETE', headers }));
      const detail = { old_value: old['masked'], old_value_ends_at: rotated['old_value_ends_at'] };
      return ofKey(holder, bySession(holder), keyIn(rotated), detail);
    },
  },
  'key.revoked': {
    async 'its holder, by session'(t) {
      const holder = await newHolder();
      const made = done(t, await service.signedIn(holder, '/v1/keys', { body: { name: 'k' }, headers }));
      const target = `/v1/keys/${String(made['id'])}`;
      done(t, await service.signedIn(holder, target, { method: 'DELETE', headers }));
      return ofKey(holder, bySession(holder), keyIn(made));
    },
    async 'its holder, by the key itself'(t) {
      const client = await service.newClient();
      const key = (await service.deps.db.keys.findByPk(client.keyId))?.toJSON();
      done(t, await service.as(client, `/v1/keys/${client.keyId}`, { method: 'DELETE' }));
      return ofKey(client, byKey(client), { id: client.keyId, name: key?.name, masked: key?.mask });
    },
    async 'the operator'() {
      const client = await service.newClient();
      return ofKey(client, operator, await revokeKey(service.deps, client.key));
    },
    async 'an operator in the dashboard'(t) {
      const [client, colleague] = [await service.newClient(), await newHolder()];
      const key = (await service.deps.db.keys.findByPk(client.keyId))?.toJSON();
      const path = `/v1/operator/accounts/${client.accountId}/keys/${client.keyId}`;
      done(t, await service.asOperator(colleague, path, { method: 'DELETE' }));
      return ofKey(client, byOperator(colleague), { id: client.keyId, name: key?.name, masked: key?.mask });
    },
    async 'the operator, with another in its place'() {
      const client = await service.newClient();
      const key = (await service.deps.db.keys.findByPk(client.keyId))?.toJSON();
      await rotateKey(service.deps, client.keyId);
      return ofKey(client, operator, { id: client.keyId, name: key?.name, masked: key?.mask });
    },
  },
  'webhook.created': {
    async 'its holder, by key'() {
      const { client, webhook } = await newWebhookOf({ series: ['GDP', 'CPI*'] });
      const detail = { host: 'https://hooks.example.org', events: webhook.events, series: 2 };
      return ofWebhook(client, webhook, detail);
    },
  },
  'webhook.updated': {
    async 'its holder, by key: the URL may hold a secret, and its path is left out'(t) {
      const { client, webhook } = await newWebhookOf();
      const url = 'https://other.example.org/secret';
      const body = { url, series: ['GDP'], description: 'Ours', enabled: false };
      done(t, await service.as(client, `/v1/webhooks/${webhook.id}`, { method: 'PATCH', body }));
      const host = 'https://other.example.org';
      return ofWebhook(client, webhook, { host, series: 1, description: 'Ours', enabled: false });
    },
  },
  'webhook.deleted': {
    async 'its holder, by key'(t) {
      const { client, webhook } = await newWebhookOf();
      done(t, await service.as(client, `/v1/webhooks/${webhook.id}`, { method: 'DELETE' }));
      return ofWebhook(client, webhook, { host: 'https://hooks.example.org' });
    },
  },
  'webhook.secret_rotated': {
    async 'its holder, by key'(t) {
      const { client, webhook } = await newWebhookOf();
      done(t, await service.as(client, `/v1/webhooks/${webhook.id}/rotate-secret`, { method: 'POST' }));
      return ofWebhook(client, webhook, {});
    },
  },
  'webhook.disabled': {
    async 'the worker, after an answer 410'(t) {
      const receiver = await startReceiver(t);
      receiver.answer(410);
      const { client, webhook } = await newWebhookOf();
      await service.deps.db.webhooks.update({ url: receiver.url }, { where: { id: webhook.id } });
      done(t, await service.as(client, `/v1/webhooks/${webhook.id}/test`, { method: 'POST' }));
      const worker = await startWebhookWorker(service);
      t.teardown(() => worker.close());
      await until('it is disabled', async () => {
        const found = await service.deps.db.webhooks.findByPk(webhook.id);
        return found !== null && found.disabledAt !== null;
      });
      const actor = { kind: 'system', id: null } as const;
      const detail = { because: 'gone', host: new URL(receiver.url).origin };
      return { ...ofWebhook(client, webhook, detail), actor };
    },
  },
  'follow.created': {
    async 'its holder, by key'(t) {
      const { client, id } = await newFollowOf(t);
      return ofFollow(client, id, byKey(client), { ...followed, mode: 'at_once' });
    },
  },
  'follow.updated': {
    async 'its holder, by key'(t) {
      const { client, id } = await newFollowOf(t);
      done(t, await service.as(client, `/v1/follows/${id}`, { method: 'PATCH', body: { mode: 'daily' } }));
      return ofFollow(client, id, byKey(client), { ...followed, mode: 'daily' });
    },
  },
  'follow.deleted': {
    async 'its holder, by key'(t) {
      const { client, id } = await newFollowOf(t);
      done(t, await service.as(client, `/v1/follows/${id}`, { method: 'DELETE' }));
      return ofFollow(client, id, byKey(client), followed);
    },
    async 'the link of a mail, which ends all'(t) {
      const { client, id } = await newFollowOf(t);
      const token = createUnsubscribeTokens(testWebhooks.secretKeys).of(client.accountId as `acct_${string}`);
      done(t, await service.anonymously(`/v1/unsubscribe?token=${token}`, { method: 'POST' }));
      return ofFollow(client, id, visitor, followed);
    },
  },
};

const followed = { kind: 'search', of: 'consumer prices' };

async function newFollowOf(t: ExecutionContext) {
  const client = await service.newClient();
  const { id } = done(t, await service.as(client, '/v1/follows', { body: followed }));
  return { client, id: String(id) };
}

function ofFollow(
  { accountId }: Client,
  subject: string,
  actor: Expected['actor'],
  detail: object,
): Expected {
  return { accountId, actor, subject, detail };
}

async function newWebhookOf(wish: Parameters<typeof newWebhook>[2] = {}) {
  const client = await service.newClient('pro');
  return { client, webhook: await newWebhook(service, client, wish) };
}

function ofWebhook(client: Client, { id }: { id: string }, detail: object): Expected {
  return { accountId: client.accountId, actor: byKey(client), subject: id, detail };
}

interface Shown {
  at: string;
  action: string;
  actor: object;
  subject: string;
  detail: object;
}

/** What an account's holder reads of a subject. */
async function read(caller: SignedIn, subject: string): Promise<Shown[]> {
  const { body } = await service.signedIn(caller, '/v1/account/audit');
  return (body as { data: Shown[] }).data.filter((event) => event.subject === subject);
}

const rowsAfter = async (eventNo: number, action: Action) =>
  (await service.deps.db.auditEvents.findAll({ where: { action }, order: ['eventNo'] })).filter(
    (row) => Number(row.eventNo) > eventNo,
  );
const lastEvent = async () => Number(await service.deps.db.auditEvents.max('eventNo'));

for (const action of actions) {
  for (const [how, act] of Object.entries(writers[action])) {
    test.serial(`${action} is written once, with who did it and to what: ${how}`, async (t) => {
      service.clock.advance(1000);
      const stranger = await newHolder();
      const before = await lastEvent();
      const { accountId, actor, subject, detail } = await act(t);
      // The case may first have signed its holder in or made a key: what it is about comes last.
      const rows = await rowsAfter(before, action);
      t.is(rows.filter((row) => row.subject === subject).length, 1);
      t.like(rows.at(-1), { accountId, subject });
      const at = instantText(service.clock.now());
      const shown = await read({ accountId, sessionId: 'sess_reader' }, subject);
      t.deepEqual(
        shown.filter((event) => event.action === action),
        [{ at, action, actor, subject, detail }],
      );
      t.deepEqual(await read(stranger, subject), []);
    });
  }
}

test.serial('what is refused leaves no row', async (t) => {
  const [holder, other] = [await newHolder(), await newHolder()];
  const before = await lastEvent();
  const ask = (method: string, target: string, body?: object) =>
    service.signedIn(holder, target, { method, headers, ...(body === undefined ? {} : { body }) });
  assertError(t, await ask('DELETE', `/auth/sessions/${other.sessionId}`), 404, 'not_found');
  assertError(t, await ask('DELETE', `/v1/keys/key_${'a'.repeat(20)}`), 404, 'not_found');
  assertError(t, await ask('DELETE', '/auth/google/link'), 404, 'not_found');
  assertError(t, await ask('PATCH', '/v1/account', { name: '' }), 400, 'invalid_body');
  const wrong = { current: newPassword(), new: newPassword() };
  assertError(t, await ask('POST', '/auth/change-password', wrong), 401, 'invalid_credentials');
  const ended = { ...holder, sessionId: other.sessionId };
  t.is((await service.signedIn(ended, '/auth/logout', { method: 'POST' })).status, 204);
  t.is(await lastEvent(), before);
});
