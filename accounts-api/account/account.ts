// The account itself: who it is, what it is on, the fields that its holder may change, and its end.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { audit } from '../audit.ts';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { parseBody, parseQuery } from '../../kernel/http/params.ts';
import { planOf, type Plans } from '../../kernel/plans.ts';
import { lockKeysOf, lockMonthsOf } from './account.sql.ts';
import { requesterOf, signedInOf, type SignedIn } from '../requester.ts';
import type { Deps } from '../database.ts';
import type { SignInDeps } from '../deps.ts';
import { sendOne } from '../envelope.ts';
import { emailField, nameField, noParameters, passwordField } from '../fields.ts';
import { selectLinked } from '../auth/identities.sql.ts';
import { countActiveKeys } from '../keys/keys.sql.ts';
import { keysMax } from '../keys/keys.ts';
import type { Account } from '../models/account.ts';
import { requireFresh } from '../auth/sessions.ts';
import { clientInfoOf } from '../client-info.ts';

const wanted = z.boolean({ error: 'must be true or false' }).optional();
const change = z
  .strictObject({
    name: nameField.optional(),
    email: emailField.optional(),
    password: passwordField.optional(),
    notifications: z.strictObject({ usage: wanted, key_expiry: wanted }).optional(),
  })
  .refine((wish) => [wish.name, wish.email, wish.notifications].some((each) => each !== undefined), {
    path: ['name'],
    message: 'give a name, an e-mail address, or notifications',
  });

/** GET /v1/account */
export function readAccount(deps: Deps): Handler {
  return async (request, response, call) => {
    const { accountId } = requesterOf(call);
    parseQuery(noParameters, request.url);
    const account = await call.stage('sql', () => findAccount(deps, accountId));
    sendOne(response, 200, await call.stage('sql', () => accountRecord(deps, account)));
  };
}

/**
 * PATCH /v1/account {name?, email?, password?, notifications?}. A new address takes a session and the password, and is in force once the link
 * that is mailed to it has been opened; the present address is told.
 */
export function changeAccount(deps: SignInDeps): Handler {
  return async (request, response, call) => {
    const caller = requesterOf(call);
    const { accountId, actor } = caller;
    parseQuery(noParameters, request.url);
    const { name, email, password, notifications } = parseBody(change, request.body);
    const account = await call.stage('sql', () => findAccount(deps, accountId));
    if (email !== undefined) {
      const { ip } = clientInfoOf(request);
      await proveHolder(deps, account, { caller: signedInOf(call), password, ip });
      await deps.throttle.mail({ email, ip });
    }
    const at = deps.clock.now();
    await call.stage('sql', () =>
      deps.db.inTransaction(async (transaction) => {
        if (name !== undefined) {
          await account.update({ name }, { transaction });
          await audit(deps, transaction, { accountId, actor, action: 'account.updated', detail: { name } });
        }
        if (notifications !== undefined) {
          const { usage: mailsUsage, key_expiry: mailsKeyExpiry } = notifications;
          await account.update(
            {
              ...(mailsUsage === undefined ? {} : { mailsUsage }),
              ...(mailsKeyExpiry === undefined ? {} : { mailsKeyExpiry }),
            },
            { transaction },
          );
          const detail = { notifications };
          await audit(deps, transaction, { accountId, actor, action: 'account.updated', detail });
        }
        if (email !== undefined) {
          if (!(await holdAccount(deps, transaction, account))) failPassword(); // it proves nothing any more
          const detail = { email };
          await audit(deps, transaction, { accountId, actor, action: 'email.change_asked', detail });
          const notice = { mail: 'notice', notice: 'email_change_asked', email: account.email } as const;
          await deps.jobs.enqueue(
            transaction,
            { mail: 'change_email', accountId, email },
            { ...notice, at: at.toISOString() },
          );
        }
      }),
    );
    sendOne(response, 200, await call.stage('sql', () => accountRecord(deps, account)));
  };
}

/** DELETE /v1/account → 204: closes the account for good. Takes a session that was opened within the hour. */
export function closeAccount(deps: SignInDeps): Handler {
  return async (request, response, call) => {
    const caller = signedInOf(call);
    parseQuery(noParameters, request.url);
    const account = await findAccount(deps, caller.accountId);
    await requireFresh(deps, caller);
    if (account.subscriptionState !== 'none') {
      fail('conflict', 'The account has a subscription: cancel it first, in GET /v1/billing/portal.');
    }
    const at = deps.clock.now();
    await deps.db.inTransaction(async (transaction) => {
      const { id: accountId, email } = account;
      await lockMonthsOf(deps.db, transaction, accountId);
      if (!(await holdAccount(deps, transaction, account))) {
        fail('conflict', 'The account has just been changed elsewhere: look at it again, then close it.');
      }
      await lockKeysOf(deps.db, transaction, accountId);
      // Keys, sessions, identities and links go with the row; the audit and the ledger of usage stay, without the address.
      await account.destroy({ transaction });
      await audit(deps, transaction, { accountId, actor: caller.actor, action: 'account.closed' });
      const notice = { mail: 'notice', notice: 'account_closed', email, at: at.toISOString() } as const;
      await deps.jobs.enqueue(transaction, notice);
    });
    response.set('cache-control', 'no-store').status(204).end();
  };
}

/** @throws Failure `invalid_credentials`, or `reauthentication_required` for an account that has no password. */
async function proveHolder(
  deps: SignInDeps,
  account: Account,
  { caller, password, ip }: { caller: SignedIn; password: string | undefined; ip: string },
): Promise<void> {
  if (account.passwordHash === null) return requireFresh(deps, caller);
  if (password === undefined) {
    fail('invalid_body', '"password": is needed to change the e-mail address.', { param: 'password' });
  }
  const { email, passwordHash } = account;
  if (await deps.throttle.signIn({ email, ip }, () => deps.passwords.matches(passwordHash, password))) return;
  failPassword();
}

function failPassword(): never {
  fail('invalid_credentials', 'The password is not right.', { param: 'password' });
}

/** What the holder and the operator see of an account. */
export interface AccountRecord {
  id: string;
  email: string;
  email_verified: boolean;
  name: string | null;
  /** How the holder can sign in. */
  has_password: boolean;
  google_linked: boolean;
  /** An id of config/plans.yml. */
  plan: string;
  status: 'active' | 'disabled';
  subscription_state: 'none' | 'active' | 'inactive';
  /** ISO instant. */
  created_at: string;
  /** Which mails the holder wants; those about the account's safety are sent in any case. */
  notifications: { usage: boolean; key_expiry: boolean };
  active_keys: number;
  key_limit: number;
}

/** The account as it is shown. */
export async function accountRecord(deps: Deps, account: Account): Promise<AccountRecord> {
  const [record] = await accountRecords(deps, [account]);
  if (record === undefined) throw new Error('An account has no record.');
  return record;
}

/** The accounts as they are shown, in their order. */
export async function accountRecords(deps: Deps, accounts: readonly Account[]): Promise<AccountRecord[]> {
  const ids = accounts.map((account) => account.id);
  const activeKeys = await countActiveKeys(deps.db, ids, deps.clock.now());
  const linked = await selectLinked(deps.db, ids);
  return accounts.map((account) =>
    toRecord(deps.plans, account, {
      activeKeys: activeKeys.get(account.id) ?? 0,
      linked: linked.has(account.id),
    }),
  );
}

function toRecord(
  plans: Plans,
  account: Account,
  { activeKeys, linked }: { activeKeys: number; linked: boolean },
): AccountRecord {
  return {
    id: account.id,
    email: account.email,
    email_verified: account.emailVerifiedAt !== null,
    has_password: account.passwordHash !== null,
    google_linked: linked,
    name: account.name,
    plan: planOf(plans, account.plan).id,
    status: account.status,
    subscription_state: account.subscriptionState,
    created_at: account.createdAt.toISOString(),
    notifications: { usage: account.mailsUsage, key_expiry: account.mailsKeyExpiry },
    active_keys: activeKeys,
    key_limit: keysMax,
  };
}

/** The account of a caller. @throws Failure `unauthorized` where it is gone: its credential went with it. */
export async function findAccount(deps: Deps, accountId: string): Promise<Account> {
  const account = await deps.db.accounts.findByPk(accountId);
  return account ?? fail('unauthorized', 'The account of this credential no longer exists.');
}

/**
 * Holds an account to the end of the transaction, as it was when it was read: of two who prove a password or a link at once,
 * the second finds that the first has changed what its proof was worth.
 * @returns false where the account is gone by now, or its password, address, status or subscription has changed.
 */
export async function holdAccount(
  deps: Deps,
  transaction: Transaction,
  { id, credentialVersion, status, subscriptionState }: Account,
): Promise<boolean> {
  const lock = transaction.LOCK.NO_KEY_UPDATE;
  const where = { id, credentialVersion, status, subscriptionState };
  const held = await deps.db.accounts.findOne({ where, transaction, lock });
  return held !== null;
}
