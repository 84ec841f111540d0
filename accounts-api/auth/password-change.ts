// Sets passwords: changed with the current one, reset through a mailed link, or set for the first time after a recent sign-in with Google. Each ends
// all other sessions and all links mailed before.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { lockOwnedRows } from '../models/lock-order.sql.ts';
import { audit } from '../audit.ts';
import { notify } from '../jobs/jobs.ts';
import { fail, refuseField } from '../../kernel/errors.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { failIfTaken, findAccount, lockAccountIfUnchanged } from '../models/find-account.ts';
import { signedInOf, type SignedIn } from '../requester.ts';
import { endClaims } from '../billing/checkouts.sql.ts';
import type { Deps } from '../database.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { emailField, passwordField } from '../fields.ts';
import { endFollowsOf } from '../follows/follows.ts';
import { reportRevokedKey } from '../keys/keys.ts';
import { failGone, hashMailToken, tokenField } from '../mail/mail-tokens.ts';
import { selectMailToken, spendMailToken } from '../mail/mail-tokens.sql.ts';
import type { Account } from '../models/account.ts';
import type { Actor } from '../models/audit-event.ts';
import { requireGoodPassword } from './password-rules.ts';
import {
  deviceAnswer,
  openSession,
  proofOf,
  refuseOperator,
  requireFresh,
  signedInAnswer,
  type SignedInAnswer,
} from '../sessions/sessions.ts';
import { deletePasskeys } from '../sessions/passkeys.sql.ts';
import { deleteAuthenticator } from '../sessions/second-factor.sql.ts';
import { endSessionsOf } from '../sessions/sessions.sql.ts';
import { visitor } from './sign-up.ts';
import { revokeUnprovenAccess } from './signups.sql.ts';
import { clientInfoOf, type ClientInfo } from '../sessions/client-info.ts';
import { endWebhooksOf } from '../webhooks/webhooks.ts';

export const changePassword = endpoint({
  summary: 'Changes the password, and ends all sessions except the new one in the answer.',
  requester: 'signed_in',
  body: z.strictObject({ current: passwordField, new: passwordField }),
  answers: { 200: signedInAnswer },
  errors: ['invalid_credentials', 'conflict', 'rate_limited', 'unavailable'],
  handler: async (deps, { requester, body, request }) => {
    const clientInfo = clientInfoOf(request);
    const account = await findAccount(deps, requester.accountId);
    if (account.passwordHash === null) {
      fail('conflict', 'The account has no password yet. Set one with POST /auth/set-password.');
    }
    checkPassword(deps, account, 'new', body.new);
    // Throttled here too: a stolen session must not allow guessing the password.
    const isRight = await deps.throttle.signIn({ sessionOf: account }, () =>
      deps.passwords.matches(account.passwordHash, body.current),
    );
    const failCurrent = () =>
      fail('invalid_credentials', 'The current password is incorrect.', { param: 'current' });
    if (!isRight) failCurrent();
    // A password reset skips this check: the refusal would confirm a guess of the current password to anyone who has the link.
    if (body.new === body.current) refuseField('new', '"new" must differ from the current password.');
    const passwordHash = await deps.passwords.hash(body.new);
    const { actor } = requester;
    const session = await deps.db.inLedgerTransaction(async (transaction) => {
      if (!(await lockAccountIfUnchanged(deps, transaction, account))) failCurrent(); // a concurrent change came first
      const proof = await proofOf(deps, transaction, requester);
      await replacePassword(deps, transaction, account, { passwordHash, actor, ip: clientInfo.ip });
      return openSession(deps, transaction, account.id, { clientInfo, how: 'password', ...proof });
    });
    return one({ ...session, device_token: deps.throttle.deviceToken(account) });
  },
});

/** Does the same work and gives the same answer whether or not the account exists. */
export const forgotPassword = endpoint({
  summary: 'Mails a link for a new password, if the e-mail address has an account.',
  requester: 'anyone',
  body: z.strictObject({ email: emailField }),
  answers: { 202: z.object({ email: z.string(), next: z.string() }) },
  errors: ['rate_limited'],
  handler: async (deps, { body: { email }, request }) => {
    await deps.throttle.mail('reset_password', { email, ip: clientInfoOf(request).ip });
    await deps.db.inLedgerTransaction((transaction) =>
      deps.jobs.enqueue(transaction, { mail: 'reset_password', email }),
    );
    return one(
      { email, next: 'If the e-mail address has an account, a link is sent to it.' },
      { status: 202 },
    );
  },
});

export const setPassword = endpoint({
  summary: 'Sets a password by a mailed link, or the first one of an account.',
  description:
    'With a token it ends all sessions and starts none. Without one it needs a sign-in within the last hour to an account without a password, which is not an operator’s.',
  requester: 'anyone',
  body: z.strictObject({
    token: tokenField.optional().describe('From the link.'),
    password: passwordField,
  }),
  answers: { 200: z.union([signedInAnswer, deviceAnswer]) },
  errors: [
    'unauthorized',
    'forbidden',
    'reauthentication_required',
    'conflict',
    'email_taken',
    'gone',
    'rate_limited',
    'unavailable',
  ],
  handler: async (deps, { body: { token, password }, call, request }) => {
    const clientInfo = clientInfoOf(request);
    return one(
      token === undefined
        ? await setFirstPassword(deps, signedInOf(call), { password, clientInfo })
        : await resetPassword(deps, { token, password, clientInfo }),
    );
  },
});

async function resetPassword(
  deps: ServiceDeps,
  { token, password, clientInfo }: { token: string; password: string; clientInfo: ClientInfo },
): Promise<z.output<typeof deviceAnswer>> {
  await deps.throttle.token(clientInfo.ip);
  const hash = hashMailToken(token);
  const link = await selectMailToken(deps.db, hash, ['reset_password'], deps.clock.now());
  const account = link && (await deps.db.accounts.findByPk(link.account_id));
  if (account === null) failGone();
  checkPassword(deps, account, 'password', password); // before the link is used, so that another password can be tried with it
  const passwordHash = await deps.passwords.hash(password);
  const now = deps.clock.now();
  await deps.db
    .inTransaction(async (transaction) => {
      const isFirstProof = account.emailVerifiedAt === null;
      if (isFirstProof) await endClaims(deps.db, transaction, account.id, now); // before the account, as a claim locks the account second
      if (!(await lockAccountIfUnchanged(deps, transaction, account))) failGone();
      if (!(await spendMailToken(deps.db, transaction, hash, 'reset_password', now))) failGone();
      if (isFirstProof) await endUnprovenAccess(deps, transaction, account, now);
      await replacePassword(deps, transaction, account, { passwordHash, actor: visitor, ip: clientInfo.ip });
    })
    .catch(
      failIfTaken(
        'An account with this e-mail address was created after the link was mailed. Sign in to that account: its Billing page offers the purchase.',
      ),
    );
  await deps.throttle.forgive(account.email);
  // With a known device, the owner of the mailbox can sign in however many attempts others make on the account.
  return { device_token: deps.throttle.deviceToken(account) };
}

/** The mailbox is proved only now: access that others may have set up ends, and the e-mail address can sign in. */
async function endUnprovenAccess(
  deps: ServiceDeps,
  transaction: Transaction,
  account: Account,
  now: Date,
): Promise<void> {
  const by = { accountId: account.id, actor: visitor };
  await lockOwnedRows(deps.db, transaction, account.id);
  const revoked = await revokeUnprovenAccess(deps.db, transaction, account.id, now);
  for (const key of revoked) await reportRevokedKey(deps, transaction, by, key);
  if (await deleteAuthenticator(deps.db, transaction, account.id))
    await audit(deps, transaction, { ...by, action: 'totp.removed' });
  for (const { id: subject, name } of await deletePasskeys(deps.db, transaction, by))
    await audit(deps, transaction, { ...by, action: 'passkey.removed', subject, detail: { name } });
  await endWebhooksOf(deps, transaction, by);
  await endFollowsOf(deps, transaction, by.accountId, by.actor);
  await account.update({ emailVerifiedAt: now, emailSignsIn: true }, { transaction });
}

async function setFirstPassword(
  deps: ServiceDeps,
  caller: SignedIn,
  { password, clientInfo }: { password: string; clientInfo: ClientInfo },
): Promise<SignedInAnswer> {
  const account = await findAccount(deps, caller.accountId);
  const failExists = () =>
    fail('conflict', 'The account has a password already. Change it with POST /auth/change-password.');
  if (account.passwordHash !== null) failExists();
  refuseOperator(account, 'POST /auth/forgot-password e-mails a link that sets the password.');
  await requireFresh(deps, caller, account);
  checkPassword(deps, account, 'password', password);
  const passwordHash = await deps.passwords.hash(password);
  const { actor } = caller;
  const session = await deps.db.inLedgerTransaction(async (transaction) => {
    if (!(await lockAccountIfUnchanged(deps, transaction, account))) failExists(); // a concurrent change came first
    const proof = await proofOf(deps, transaction, caller);
    await replacePassword(deps, transaction, account, { passwordHash, actor, ip: clientInfo.ip });
    return openSession(deps, transaction, account.id, { clientInfo, how: 'password', ...proof });
  });
  return { ...session, device_token: deps.throttle.deviceToken(account) };
}

function checkPassword(deps: ServiceDeps, account: Account, field: string, password: string): void {
  const lengthMin = deps.settings.passwordLengthMin;
  requireGoodPassword(password, { field, lengthMin, context: [account.email, account.name] });
}

/** Sets the new password, ends all sessions and invalidates all mailed links. The holder is notified by e-mail. */
export async function replacePassword(
  deps: Deps & Pick<ServiceDeps, 'jobs'>,
  transaction: Transaction,
  account: Account,
  { passwordHash, actor, ip }: { passwordHash: string; actor: Actor; ip?: string },
): Promise<void> {
  const action = account.passwordHash === null ? 'password.set' : 'password.changed';
  await account.update({ passwordHash, credentialVersion: account.credentialVersion + 1 }, { transaction });
  await endSessionsOf(deps.db, transaction, account.id, null);
  await audit(deps, transaction, {
    accountId: account.id,
    actor,
    action,
    detail: ip === undefined ? {} : { ip },
  });
  await notify(deps, transaction, 'password_changed', account.email);
}
