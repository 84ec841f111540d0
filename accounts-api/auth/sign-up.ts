// Sign-up, and the links that prove a mailbox. With SMTP, an account is created only by someone who owns the mailbox and knows the password of the
// sign-up: neither a stranger's sign-up nor a scanner that opens links can create one.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { audit } from '../audit.ts';
import { notify } from '../jobs/jobs.ts';
import { fail, refuseField } from '../../kernel/errors.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { failIfTaken, findAccount, lockAccountIfUnchanged } from '../models/find-account.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { emailField, nameField, passwordField } from '../fields.ts';
import { newId } from '../ids.ts';
import { failGone, hashMailToken, lifetimeMs, tokenField } from '../mail/mail-tokens.ts';
import { selectMailToken, spendMailToken, type AccountLink } from '../mail/mail-tokens.sql.ts';
import type { Account } from '../models/account.ts';
import type { Actor } from '../models/audit-event.ts';
import { requireGoodPassword } from './password-rules.ts';
import {
  finishFirstStep,
  firstStepReply,
  secondStepAnswer,
  type SecondStepAnswer,
} from './second-factor/pending.ts';
import {
  openSession,
  proofOf,
  signedInAnswer,
  type SessionAnswer,
  type SignedInAnswer,
} from '../sessions/sessions.ts';
import { endSessionsOf } from '../sessions/sessions.sql.ts';
import { findSignUpsOfLink } from './signups.sql.ts';
import { clientInfoOf, type ClientInfo } from '../sessions/client-info.ts';

export const visitor: Actor = { actorKind: 'visitor', actorId: null };

export const signUp = endpoint({
  summary: 'Creates an account with an e-mail address and a password.',
  description:
    'With mail, the answer is 202 for known and unknown e-mail addresses alike, and the link in the e-mail makes the account.',
  requester: 'anyone',
  body: z.strictObject({ email: emailField, password: passwordField, name: nameField.optional() }),
  answers: {
    201: signedInAnswer.describe('Without mail: the account was created and signed in.'),
    202: z.object({ email: z.string(), next: z.string() }).describe('An e-mail is being sent.'),
  },
  errors: ['email_taken', 'rate_limited', 'unavailable'],
  handler: async (deps, { body: { email, password, name = null }, request }) => {
    const clientInfo = clientInfoOf(request);
    const lengthMin = deps.settings.passwordLengthMin;
    requireGoodPassword(password, { field: 'password', lengthMin, context: [email, name] });
    const who = { email, ip: clientInfo.ip };
    if (deps.settings.mailGoesOut) {
      const isMailed = await deps.throttle.signUpMail(who);
      await awaitLink(deps, { email, name, passwordHash: await deps.passwords.hash(password) }, isMailed);
      return one({ email, next: 'Open the link in the e-mail that we are sending you.' }, { status: 202 });
    }
    await deps.throttle.mail('sign_up', who);
    const passwordHash = await deps.passwords.hash(password);
    const signedIn = await makeAccount(
      deps,
      { email, name, passwordHash, emailVerifiedAt: null },
      clientInfo,
      (transaction, id) => deps.jobs.enqueue(transaction, { mail: 'verify_email', accountId: id }),
    );
    return one(signedIn, { status: 201 });
  },
});

export const verifyEmail = endpoint({
  summary: 'Confirms an e-mail address by a mailed link, and signs in.',
  description:
    'The link of a sign-up creates the account; the link of a new e-mail address activates the address.',
  requester: 'anyone',
  body: z.strictObject({
    token: tokenField.describe('From the link.'),
    password: passwordField
      .optional()
      .describe('The password of the sign-up or the account; a session of the account may be sent instead.'),
  }),
  answers: { 200: signedInAnswer, 202: secondStepAnswer },
  errors: ['unauthorized', 'invalid_credentials', 'gone', 'email_taken', 'rate_limited', 'unavailable'],
  handler: async (deps, { body: { token, password }, call, request }) => {
    const clientInfo = clientInfoOf(request);
    await deps.throttle.token(clientInfo.ip);
    const hash = hashMailToken(token);
    const purposes = ['sign_up', 'verify_email', 'change_email'] as const;
    const link = await selectMailToken(deps.db, hash, purposes, deps.clock.now());
    if (link === null) failGone();
    if (link.signup_id !== null)
      return one(await finishSignUp(deps, link.signup_id, { hash, clientInfo, password }));
    const { result, account } = await confirmEmail(deps, link, { hash, clientInfo, password, call });
    return firstStepReply(result, { device_token: deps.throttle.deviceToken(account) });
  },
});

export const resendVerification = endpoint({
  summary: 'Mails the link that confirms the e-mail address again.',
  requester: 'signed_in',
  answers: { 202: z.object({ email: z.string() }) },
  errors: ['conflict', 'rate_limited'],
  handler: async (deps, { requester: { accountId }, request }) => {
    const account = await findAccount(deps, accountId);
    if (account.emailVerifiedAt !== null) fail('conflict', 'The e-mail address is confirmed already.');
    await deps.throttle.mail('verify_email', { email: account.email, ip: clientInfoOf(request).ip });
    await deps.db.inLedgerTransaction((transaction) =>
      deps.jobs.enqueue(transaction, { mail: 'verify_email', accountId }),
    );
    return one({ email: account.email }, { status: 202 });
  },
});

/**
 * Stores the sign-up and its e-mail, both or neither. The worker finds out whether the e-mail address is known.
 * @param isMailed false: the mailbox has reached its hourly limit of e-mails. Any earlier link finishes this sign-up too, so that strangers who sign up
 * with an address cannot keep its owner from signing up.
 */
async function awaitLink(
  deps: ServiceDeps,
  wish: { email: string; name: string | null; passwordHash: string },
  isMailed: boolean,
): Promise<void> {
  const signupId = newId('sup');
  const createdAt = deps.clock.now();
  const expiresAt = new Date(createdAt.getTime() + lifetimeMs.sign_up);
  await deps.db.inLedgerTransaction(async (transaction) => {
    await deps.db.signups.create({ ...wish, id: signupId, createdAt, expiresAt }, { transaction });
    if (isMailed) await deps.jobs.enqueue(transaction, { mail: 'sign_up', signupId });
  });
}

/** Creates the account: the link proves the mailbox, and the password selects the sign-up that it is created from. */
async function finishSignUp(
  deps: ServiceDeps,
  signupId: string,
  { hash, clientInfo, password }: { hash: string; clientInfo: ClientInfo; password: string | undefined },
): Promise<SignedInAnswer> {
  const signups = await findSignUpsOfLink(deps.db, signupId, deps.clock.now());
  const [linked] = signups;
  if (linked === undefined) failGone();
  let signup = linked;
  await requirePassword(deps, { mailbox: linked.email, password }, async (given) => {
    for (const each of signups) {
      signup = each;
      if (await deps.passwords.matches(each.passwordHash, given)) return true;
    }
    return false;
  });
  const { email, name, passwordHash } = signup;
  const emailVerifiedAt = deps.clock.now();
  const wish = { email, name, passwordHash, emailVerifiedAt };
  return makeAccount(deps, wish, clientInfo, async (transaction) => {
    if (!(await spendMailToken(deps.db, transaction, hash, 'sign_up', emailVerifiedAt))) failGone();
    await signup.destroy({ transaction }); // also deletes its links
  });
}

/**
 * Confirms an account's current or new e-mail address. Other sessions end, as their rights have changed. The caller's session of the account is
 * replaced; a caller without one has signed in by password, and needs a code if there is a second factor.
 */
async function confirmEmail(
  deps: ServiceDeps,
  link: AccountLink,
  {
    hash,
    clientInfo,
    password,
    call,
  }: { hash: string; clientInfo: ClientInfo; password: string | undefined; call: ServiceCall },
): Promise<{ result: SessionAnswer | SecondStepAnswer; account: Account }> {
  const account = await deps.db.accounts.findByPk(link.account_id);
  if (account === null) failGone();
  const { sessionId } = call.identity;
  const ownSessionId = call.identity.accountId === account.id ? sessionId : null;
  if (ownSessionId === null) {
    const { passwordHash } = account;
    await requirePassword(deps, { mailbox: link.email, password }, (given) =>
      deps.passwords.matches(passwordHash, given),
    );
  }
  const now = deps.clock.now();
  const before = account.email;
  const isChange = link.purpose === 'change_email';
  const result = await deps.db
    .inTransaction(async (transaction) => {
      if (!(await lockAccountIfUnchanged(deps, transaction, account))) failGone();
      if (!(await spendMailToken(deps.db, transaction, hash, link.purpose, now))) failGone();
      const credentialVersion = account.credentialVersion + 1;
      const proved = { email: link.email, emailVerifiedAt: now, mailRefusedAt: null };
      await account.update({ ...proved, credentialVersion }, { transaction });
      const proof =
        ownSessionId === null
          ? null
          : await proofOf(deps, transaction, { accountId: account.id, sessionId: ownSessionId });
      await endSessionsOf(deps.db, transaction, account.id, null);
      await audit(deps, transaction, {
        accountId: account.id,
        actor: visitor,
        action: isChange ? 'email.changed' : 'email.verified',
        detail: { email: link.email, ip: clientInfo.ip, ...(isChange ? { before } : {}) },
      });
      if (isChange) await notify(deps, transaction, 'email_changed', before);
      const step = { clientInfo, how: 'mailed_link' } as const;
      return proof === null
        ? finishFirstStep(deps, transaction, account, { ...step, knownDevice: false })
        : openSession(deps, transaction, account.id, { ...step, ...proof });
    })
    .catch(failIfTaken('This e-mail address belongs to another account now.'));
  return { result, account };
}

/**
 * @param mailbox the address that the link was mailed to.
 * @throws Failure `invalid_body` without a password, `invalid_credentials` with a wrong one. The link stays valid.
 */
async function requirePassword(
  deps: ServiceDeps,
  { mailbox, password }: { mailbox: string; password: string | undefined },
  matches: (given: string) => Promise<boolean>,
): Promise<void> {
  if (password === undefined) refuseField('password', '"password" is required: the one given at sign-up.');
  if (!(await deps.throttle.signIn({ linkTo: mailbox }, () => matches(password)))) {
    fail('invalid_credentials', 'Incorrect password. The link is still valid.');
  }
}

/** Creates an account and signs it in. @param alsoRun runs in the same transaction, before the session is opened. @throws Failure `email_taken`. */
export async function makeAccount(
  deps: ServiceDeps,
  wish: { email: string; name: string | null; passwordHash: string | null; emailVerifiedAt: Date | null },
  clientInfo: ClientInfo,
  alsoRun: (transaction: Transaction, id: string) => Promise<void>,
): Promise<SignedInAnswer> {
  const at = deps.clock.now();
  const id = newId('acct');
  return deps.db
    .inLedgerTransaction(async (transaction) => {
      const account = await deps.db.accounts.create(
        { ...wish, id, plan: 'free', createdAt: at },
        { transaction },
      );
      const detail = { email: wish.email, plan: 'free', ip: clientInfo.ip };
      await audit(deps, transaction, { accountId: id, actor: visitor, action: 'account.created', detail });
      await alsoRun(transaction, id);
      const session = await openSession(deps, transaction, id, { clientInfo, how: 'sign_up' });
      return { ...session, device_token: deps.throttle.deviceToken(account) };
    })
    .catch(
      failIfTaken('An account with this e-mail address already exists. Sign in, or set a new password.'),
    );
}
