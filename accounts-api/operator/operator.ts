// The operator's commands for accounts and keys, next to a running instance: the same functions and rules as the API, and an audit row for every
// change. An account is identified by its id or its e-mail address.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { audit } from '../audit.ts';
import { hashApiKey, isWellFormedApiKey } from '../../kernel/credentials/api-key.ts';
import { fail, refuseParam } from '../../kernel/errors.ts';
import { parseBody } from '../../kernel/http/params.ts';
import { planOf } from '../../kernel/plans.ts';
import { accountRecord, accountRecords, type AccountRecord } from '../account/account.ts';
import { selectSubscriptions } from '../billing/customers.sql.ts';
import { currentOf, subscriptionDataOf } from '../billing/subscription-status.ts';
import { emitEvents } from '../events.ts';
import type { Deps } from '../database.ts';
import { emailField, nameField } from '../fields.ts';
import { newId } from '../ids.ts';
import { accessFields } from '../keys/key-access.ts';
import { pinField } from '../keys/pin.ts';
import { giveNewValue, rotation } from '../keys/rotate-key.ts';
import { issueKey, keyRecord, revokeKey as endKey, type KeyRecord } from '../keys/keys.ts';
import type { Account } from '../models/account.ts';
import type { ApiKey } from '../models/api-key.ts';
import type { Actor } from '../models/audit-event.ts';
import { findAccountsBoughtFor, findKeys } from './operator.sql.ts';
import { findAccountByEmail } from '../models/accounts.sql.ts';
import { failIfTaken } from '../models/find-account.ts';
import { monthUsage, type MonthUsage } from '../usage/usage.ts';

/** The actor of a command. */
export const operator: Actor = { actorKind: 'operator', actorId: null };

const newAccount = z.strictObject({ email: emailField, name: nameField.optional(), plan: z.string() });
const newKey = z.strictObject({ name: nameField, ...accessFields, as_of: pinField });

/** @throws Failure `email_taken`, `invalid_body`, or `invalid_parameter` for a plan that does not exist. */
export async function createAccount(
  deps: Deps,
  wish: { email: string; name?: string; plan: string },
): Promise<AccountRecord> {
  const { email, name, plan } = parseBody(newAccount, wish);
  requirePlan(deps, plan);
  const at = deps.clock.now();
  const id = newId('acct');
  const account = await deps.db
    .inTransaction(async (transaction) => {
      const made = await deps.db.accounts.create(
        {
          id,
          email,
          name: name ?? null,
          plan,
          status: 'active',
          subscriptionState: 'none',
          createdAt: at,
          emailVerifiedAt: at, // the operator confirms it
        },
        { transaction },
      );
      const detail = { email, plan };
      await audit(deps, transaction, { accountId: id, actor: operator, action: 'account.created', detail });
      return made;
    })
    .catch(failIfTaken(`An account with the e-mail address ${email} already exists.`));
  return accountRecord(deps, account);
}

/** All accounts, the oldest first. */
export async function listAccounts(deps: Deps): Promise<AccountRecord[]> {
  const accounts = await deps.db.accounts.findAll({ order: ['createdAt', 'id'] });
  return accountRecords(deps, accounts);
}

/**
 * Changes the plan of an account, from its next call on. Refused while a subscription decides the plan; the operator's plan applies again when the
 * subscription ends. @throws Failure `not_found`, `invalid_parameter`, or `conflict` for an account with a live subscription.
 */
export async function setPlan(deps: Deps, accountRef: string, plan: string): Promise<AccountRecord> {
  requirePlan(deps, plan);
  const account = await findAccountByRef(deps, accountRef);
  await deps.db.inTransaction(async (transaction) => {
    const lock = transaction.LOCK.NO_KEY_UPDATE;
    await account.reload({ transaction, lock });
    await setPlanWithin(deps, transaction, account, { plan, actor: operator });
  });
  return accountRecord(deps, account);
}

/** The same for an account that the transaction has locked. @param plan an existing plan. */
export async function setPlanWithin(
  deps: Deps,
  transaction: Transaction,
  account: Account,
  { plan, actor }: { plan: string; actor: Actor },
): Promise<void> {
  if (account.subscriptionState !== 'none') {
    const own = planOf(deps.plans, account.planSetAside ?? 'free').id;
    fail(
      'conflict',
      `The account has a subscription, which decides its plan until it ends; then the plan "${own}" applies again. Change or cancel it at Stripe first.`,
    );
  }
  const { id: accountId, plan: before } = account;
  await account.update({ plan }, { transaction });
  const detail = { before, plan };
  await audit(deps, transaction, { accountId, actor, action: 'account.plan_changed', detail });
  if (before === plan) return;
  const current = currentOf(await selectSubscriptions(deps.db, [accountId], transaction));
  await emitEvents(deps, transaction, {
    type: 'subscription.updated',
    accountId,
    data: subscriptionDataOf(account, current),
  });
}

/**
 * Creates a key. `key` is its value: show it once. @param wish.as_of the day that it is pinned to.
 * @throws Failure `not_found`, `invalid_body`, `plan_required`, `key_limit_reached`.
 */
export async function createKey(
  deps: Deps,
  accountRef: string,
  name: string,
  wish: { scopes?: readonly string[]; addresses?: readonly string[]; as_of?: string } = {},
): Promise<KeyRecord & { key: string }> {
  const { scopes, addresses, as_of: asOf, ...body } = parseBody(newKey, { name, ...wish });
  const { id: accountId } = await findAccountByRef(deps, accountRef);
  const { record, value } = await deps.db.inLedgerTransaction((transaction) =>
    issueKey(
      deps,
      transaction,
      { accountId, actor: operator },
      { name: body.name, expiresAt: null, access: { scopes, addresses }, asOf },
    ),
  );
  return { ...record, key: value };
}

/** All keys of an account, active ones first. @throws Failure `not_found`. */
export async function listKeys(deps: Deps, accountRef: string): Promise<KeyRecord[]> {
  const now = deps.clock.now();
  const { id: accountId } = await findAccountByRef(deps, accountRef);
  const keys = await deps.db.keys.findAll({ where: { accountId }, order: [['createdAt', 'DESC']] });
  const records = keys.map((key) => keyRecord(key, now));
  const rank = (record: KeyRecord) => (record.status === 'active' ? 0 : 1);
  return records.sort((a, b) => rank(a) - rank(b));
}

/**
 * Revokes a key at once, on all running services.
 * @param keyRef its id, its mask (`pk_live_abcd…wxyz`), or its whole value.
 * @throws Failure `not_found`, or `conflict` if several keys have the mask.
 */
export async function revokeKey(deps: Deps, keyRef: string): Promise<KeyRecord> {
  const { accountId, id } = await findKey(deps, keyRef);
  return endKey(deps, { accountId, actor: operator }, id);
}

/**
 * Gives an active key a new value, as `POST /v1/keys/{id}/rotate` does. @param overlapHours for how long the old value also works; 24 by
 * default. @returns the record; `key` is the new value: show it once.
 * @throws Failure `not_found`, `invalid_body`, or `conflict` for an ended key, or one whose older value still works.
 */
export async function rotateKey(
  deps: Deps,
  keyRef: string,
  overlapHours?: number,
): Promise<KeyRecord & { key: string }> {
  const wish = parseBody(rotation, { overlap_hours: overlapHours });
  const { accountId, id } = await findKey(deps, keyRef);
  return giveNewValue(deps, { accountId, actor: operator }, id, wish.overlap_hours);
}

async function findKey(deps: Deps, keyRef: string): Promise<ApiKey> {
  const hash = isWellFormedApiKey(keyRef) ? hashApiKey(keyRef) : null;
  const found = await findKeys(deps.db, hash === null ? { idOrMask: keyRef } : { hash });
  if (found.length > 1) {
    const ids = found.map((key) => key.id).join(', ');
    fail('conflict', `Several keys match: ${ids}. Use the id of the key.`);
  }
  // The message does not repeat the reference, which may be a key's value.
  return found[0] ?? fail('not_found', 'There is no key with that id, mask or value.');
}

/** The usage of an account this month. @throws Failure `not_found`. */
export async function usage(deps: Deps, accountRef: string): Promise<MonthUsage> {
  return monthUsage(deps, await findAccountByRef(deps, accountRef));
}

export async function findAccountByRef(deps: Deps, accountRef: string): Promise<Account> {
  const account = accountRef.includes('@')
    ? ((await findAccountByEmail(deps.db, accountRef)) ?? (await findBoughtAccount(deps, accountRef)))
    : await deps.db.accounts.findByPk(accountRef);
  return account ?? fail('not_found', `There is no account with the id or e-mail address "${accountRef}".`);
}

/** The only account that a payment has created for an e-mail address, or null. @throws Failure `conflict` for several. */
async function findBoughtAccount(deps: Deps, email: string): Promise<Account | null> {
  const found = await findAccountsBoughtFor(deps.db, email);
  if (found.length > 1) {
    const ids = found.map(({ id }) => id).join(', ');
    fail('conflict', `Several purchases have this e-mail address: ${ids}. Use the id of the account.`);
  }
  return found[0] ?? null;
}

function requirePlan(deps: Deps, plan: string): void {
  if (deps.plans.get(plan) !== undefined) return;
  const known = deps.plans.all.map((each) => each.id).join(', ');
  refuseParam('plan', `There is no plan "${plan}". Plans: ${known}.`);
}
