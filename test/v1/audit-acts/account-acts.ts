// The audited actions on the account, its e-mail address and its password: each way to perform them, and the expected row of the audit log.
import type { ExecutionContext } from 'ava';
import type { Action } from '../../../accounts-api/models/audit-event.ts';
import { createAccount, setPlan } from '../../../accounts-api/operator/operator.ts';
import { setPassword, setRole, setStatus } from '../../../accounts-api/operator/account-access.ts';
import { returnFromGoogle, type Holder } from '../../auth/holders.ts';
import { newEmail, newPassword } from '../../services/sign-in.ts';
import {
  issuer,
  service,
  password,
  newHolder,
  newSignUp,
  mailLink,
  operatorDeps,
  ip,
  headers,
  type Act,
  operator,
  byOperator,
  visitor,
  bySession,
  byKey,
  done,
  ofAccount,
  accountIdOf,
  googlePerson,
  signUp,
  confirm,
  change,
} from './audited.ts';

async function changeAsOperator(t: ExecutionContext, by: Holder, { accountId }: Holder, body: object) {
  await setRole(service.deps, by.accountId, 'operator');
  done(t, await service.asOperator(by, `/v1/operator/accounts/${accountId}`, { method: 'PATCH', body }));
}

export const accountActs = {
  'account.created': {
    async 'a sign-up where no e-mail goes out'(t) {
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
      const started = await service.anonymously('/auth/google/start');
      await returnFromGoogle(service, issuer, started, claims, ip);
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
} satisfies Partial<Record<Action, Record<string, Act>>>;
