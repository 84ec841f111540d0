// The audited actions on sessions and sign-in methods: each way to perform them, and the expected row of the audit log.
import type { ExecutionContext } from 'ava';
import type { Action } from '../../../accounts-api/models/audit-event.ts';
import { createAccount } from '../../../accounts-api/operator/operator.ts';
import { removeSecondFactor } from '../../../accounts-api/operator/account-access.ts';
import { enrolHolder } from '../../auth/authenticator.ts';
import { returnFromGoogle, signInByGoogle, type Holder } from '../../auth/holders.ts';
import { passkeysOf } from '../../auth/passkey-authenticator.ts';
import { newPassword } from '../../services/sign-in.ts';
import {
  issuer,
  service,
  password,
  newHolder,
  newSession,
  mailLink,
  operatorDeps,
  ip,
  headers,
  type Expected,
  type Act,
  operator,
  visitor,
  bySession,
  done,
  ofAccount,
  sessionOf,
  googlePerson,
  signUp,
  confirm,
} from './audited.ts';

const passkeys = passkeysOf(service);

/** The expected row of a new session, which is both the actor and the subject. */
const ofNewSession = ({ accountId, sessionId }: Pick<Holder, 'accountId' | 'sessionId'>, how: string) => ({
  accountId,
  actor: bySession({ sessionId }),
  subject: sessionId,
  detail: { how, ip, user_agent: 'Tests' },
});

const logIn = async (t: ExecutionContext) => {
  const { email, accountId } = await newHolder();
  const body = { email, password };
  const sessionId = sessionOf(done(t, await service.anonymously('/auth/login', { body, headers })));
  return { accountId, sessionId };
};

/** Sets up a second factor. @returns the recovery codes. */
const enrol = async (t: ExecutionContext, holder: Holder): Promise<string[]> => {
  const { recoveryCodes } = await enrolHolder(service, holder, { password, headers });
  t.is(recoveryCodes.length, 10);
  return recoveryCodes;
};

/** The actor and the subject of a row about a passkey. */
const ofPasskey = ({ accountId }: Holder, actor: Expected['actor'], subject: string) => ({
  accountId,
  actor,
  subject,
});

export const signInActs = {
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
      const started = await service.signedIn(holder, '/auth/google/link', { method: 'POST', headers });
      const claims = googlePerson();
      const { result } = await returnFromGoogle(service, issuer, started, claims, ip);
      t.is(result.get('google_linked'), '1');
      return ofAccount(holder, visitor, { issuer: issuer.settings.issuer, email: claims.email, ip });
    },
    async 'a sign-in with the e-mail address of an account that has proved it'() {
      const claims = googlePerson();
      const { id: accountId } = await createAccount(service.deps, { email: claims.email, plan: 'free' });
      const started = await service.anonymously('/auth/google/start');
      await returnFromGoogle(service, issuer, started, claims, ip);
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
      const started = await service.signedIn(holder, '/auth/google/link', { method: 'POST', headers });
      await returnFromGoogle(service, issuer, started, googlePerson(), ip);
      done(t, await service.signedIn(holder, '/auth/google/link', { method: 'DELETE', headers }));
      return ofAccount(holder, bySession(holder));
    },
  },
} satisfies Partial<Record<Action, Record<string, Act>>>;
