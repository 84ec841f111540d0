// New passwords: changed by whoever knows the present one, set anew by whoever opens a mailed link, set for the first time by
// whoever has just signed in with Google. Each ends every other session and every link that was mailed before.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { audit } from '../audit.ts';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { parseBody, parseQuery } from '../../kernel/http/params.ts';
import { findAccount, holdAccount } from '../account/account.ts';
import { signedInOf } from '../requester.ts';
import type { Deps } from '../database.ts';
import type { SignInDeps } from '../deps.ts';
import { sendOne } from '../envelope.ts';
import { emailField, noParameters, passwordField } from '../fields.ts';
import { failGone, hashMailToken, tokenField } from '../mail/mail-tokens.ts';
import { selectMailToken, spendMailToken } from '../mail/mail-tokens.sql.ts';
import type { Account } from '../models/account.ts';
import type { Actor } from '../models/audit-event.ts';
import { requireGoodPassword } from './password-rules.ts';
import { openSession, requireFresh } from './sessions.ts';
import { endSessionsOf } from './sessions.sql.ts';
import { visitor } from './sign-up.ts';
import { revokeUnprovenAccess } from './unproven.sql.ts';
import { clientInfoOf } from '../client-info.ts';

const change = z.strictObject({ current: passwordField, new: passwordField });
const forgotten = z.strictObject({ email: emailField });
const setting = z.strictObject({ token: tokenField.optional(), password: passwordField });

/** POST /auth/change-password {current, new} → 200 with a new session; all others end. */
export function changePassword(deps: SignInDeps): Handler {
  return async (request, response, call) => {
    const caller = signedInOf(call);
    parseQuery(noParameters, request.url);
    const wish = parseBody(change, request.body);
    const clientInfo = clientInfoOf(request);
    const account = await findAccount(deps, caller.accountId);
    if (account.passwordHash === null) {
      fail('conflict', 'The account has no password yet: set one with POST /auth/set-password.');
    }
    checkPassword(deps, account, 'new', wish.new);
    // Also here: a stolen session must not be a way to guess the password.
    const isRight = await deps.throttle.signIn({ email: account.email, ip: clientInfo.ip }, () =>
      deps.passwords.matches(account.passwordHash, wish.current),
    );
    const failCurrent = () =>
      fail('invalid_credentials', 'The present password is not right.', { param: 'current' });
    if (!isRight) failCurrent();
    const passwordHash = await deps.passwords.hash(wish.new);
    const answer = await deps.db.inTransaction(async (transaction) => {
      if (!(await holdAccount(deps, transaction, account))) failCurrent(); // somebody was faster
      await replacePassword(deps, transaction, account, {
        passwordHash,
        actor: caller.actor,
        ip: clientInfo.ip,
      });
      return openSession(deps, transaction, account.id, { clientInfo, how: 'password' });
    });
    sendOne(response, 200, answer);
  };
}

/** POST /auth/forgot-password {email} → 202, the same work and the same answer whether or not there is an account. */
export function forgotPassword(deps: SignInDeps): Handler {
  return async (request, response) => {
    parseQuery(noParameters, request.url);
    const { email } = parseBody(forgotten, request.body);
    await deps.throttle.mail({ email, ip: clientInfoOf(request).ip });
    await deps.db.inTransaction((transaction) =>
      deps.jobs.enqueue(transaction, { mail: 'reset_password', email }),
    );
    sendOne(response, 202, { email, next: 'If the address has an account, a link is on its way to it.' });
  };
}

/**
 * POST /auth/set-password {token, password} → 200 {device_token}: by a mailed link, and without signing in.
 * {password} with a session no older than an hour → 200 with a new session: the first password of an account without one.
 */
export function setPassword(deps: SignInDeps): Handler {
  const first = setFirstPassword(deps);
  return async (request, response, call) => {
    parseQuery(noParameters, request.url);
    const { token, password } = parseBody(setting, request.body);
    if (token === undefined) return first(request, response, call);
    const clientInfo = clientInfoOf(request);
    await deps.throttle.token(clientInfo.ip);
    const hash = hashMailToken(token);
    const link = await selectMailToken(deps.db, hash, ['reset_password'], deps.clock.now());
    const account = link === null ? null : await deps.db.accounts.findByPk(link.account_id ?? '');
    if (account === null) failGone();
    checkPassword(deps, account, 'password', password); // before the link is spent: a second choice must be possible
    const passwordHash = await deps.passwords.hash(password);
    const now = deps.clock.now();
    await deps.db.inTransaction(async (transaction) => {
      if (!(await holdAccount(deps, transaction, account))) failGone();
      if (!(await spendMailToken(deps.db, transaction, hash, 'reset_password', now))) failGone();
      // The mailbox is proved only now: whatever somebody else may have prepared in this account ends.
      if (account.emailVerifiedAt === null) await revokeUnprovenAccess(deps.db, transaction, account.id, now);
      await account.update({ emailVerifiedAt: account.emailVerifiedAt ?? now }, { transaction });
      await replacePassword(deps, transaction, account, { passwordHash, actor: visitor, ip: clientInfo.ip });
    });
    await deps.throttle.forgive(account.email);
    // Whoever owns the mailbox gets in by a known device, however many others try the account meanwhile.
    sendOne(response, 200, { device_token: deps.throttle.deviceToken(account.email) });
  };
}

function setFirstPassword(deps: SignInDeps): Handler {
  return async (request, response, call) => {
    const caller = signedInOf(call);
    const { password } = parseBody(setting, request.body);
    const clientInfo = clientInfoOf(request);
    const account = await findAccount(deps, caller.accountId);
    const failExists = () =>
      fail('conflict', 'The account has a password: change it with POST /auth/change-password.');
    if (account.passwordHash !== null) failExists();
    await requireFresh(deps, caller);
    checkPassword(deps, account, 'password', password);
    const passwordHash = await deps.passwords.hash(password);
    const answer = await deps.db.inTransaction(async (transaction) => {
      if (!(await holdAccount(deps, transaction, account))) failExists(); // somebody was faster
      await replacePassword(deps, transaction, account, {
        passwordHash,
        actor: caller.actor,
        ip: clientInfo.ip,
      });
      return openSession(deps, transaction, account.id, { clientInfo, how: 'password' });
    });
    sendOne(response, 200, answer);
  };
}

function checkPassword(deps: SignInDeps, account: Account, field: string, password: string): void {
  const lengthMin = deps.settings.passwordLengthMin;
  requireGoodPassword(password, { field, lengthMin, context: [account.email, account.name] });
}

/** The new password is in force, and every session and every mailed link of before is not. The holder is told by mail. */
export async function replacePassword(
  deps: Deps & Pick<SignInDeps, 'jobs'>,
  transaction: Transaction,
  account: Account,
  { passwordHash, actor, ip }: { passwordHash: string; actor: Actor; ip?: string },
): Promise<void> {
  const at = deps.clock.now();
  const action = account.passwordHash === null ? 'password.set' : 'password.changed';
  await account.update({ passwordHash, credentialVersion: account.credentialVersion + 1 }, { transaction });
  await endSessionsOf(deps.db, transaction, account.id, null);
  await audit(deps, transaction, {
    accountId: account.id,
    actor,
    action,
    detail: ip === undefined ? {} : { ip },
  });
  const { email } = account;
  await deps.jobs.enqueue(transaction, {
    mail: 'notice',
    notice: 'password_changed',
    email,
    at: at.toISOString(),
  });
}
