// Finds the account of a caller, locks it while it has not changed, and reports an e-mail address that another account has.
import { Op, UniqueConstraintError, type Transaction } from 'sequelize';
import type { Clock } from '../../kernel/clock.ts';
import { fail } from '../../kernel/errors.ts';
import type { Deps } from '../database.ts';
import type { Requester } from '../requester.ts';
import type { Account } from './account.ts';
import type { ApiKey } from './api-key.ts';

/** The account of a caller. @throws Failure `unauthorized` if it was deleted, together with its credentials. */
export async function findAccount(deps: Deps, accountId: string): Promise<Account> {
  return (await deps.db.accounts.findByPk(accountId)) ?? failDeleted();
}

/** The same, locked until the end of the transaction. */
export async function lockOwnAccount(
  deps: Deps,
  transaction: Transaction,
  accountId: string,
): Promise<Account> {
  return (await lockAccount(deps, transaction, accountId)) ?? failDeleted();
}

/** The same, for a change that gives lasting access to the account. @throws Failure also as `requireCredential` does. */
export async function lockAccountOfCaller(
  deps: Deps,
  transaction: Transaction,
  requester: Requester,
): Promise<Account> {
  const account = await lockOwnAccount(deps, transaction, requester.accountId);
  await requireCredential(deps, transaction, requester);
  return account;
}

/**
 * The key of a call; null for a session and for others. The gateway has checked the credential before it read the body, so it may have ended since.
 * The transaction has locked the account of a key, as a revocation does.
 * @throws Failure `unauthorized` if the key or the value of it that was sent has ended, or the session, or if the account was disabled; `not_found` if
 * the caller is no longer an operator.
 */
export async function requireCredential(
  { db, clock }: Deps,
  transaction: Transaction,
  { accountId, actor: { actorKind, actorId }, keyHash = null, operatorSessionId = null }: Requester,
): Promise<ApiKey | null> {
  if (actorKind === 'key') {
    const key = await db.keys.findOne({ where: { id: actorId, accountId }, transaction });
    if (key?.revokedAt !== null) fail('unauthorized', 'The API key of this call was revoked.');
    if (hasEnded(key.expiresAt, clock)) fail('unauthorized', 'The API key of this call has expired.');
    const isOld = keyHash !== null && keyHash !== key.hash;
    if (isOld && (keyHash !== key.previousHash || hasEnded(key.previousUntil, clock)))
      fail('unauthorized', 'The API key of this call was rotated, and its old value has ended.');
    const serving = await db.accounts.count({ where: { id: accountId, status: 'active' }, transaction });
    if (serving === 0) fail('unauthorized', 'The account of this API key was disabled.');
    return key;
  }
  const sessionId = actorKind === 'session' ? actorId : operatorSessionId;
  if (sessionId === null) return null;
  const where = { id: sessionId, accountId, absoluteExpiresAt: { [Op.gt]: clock.now() } };
  const session = await db.sessions.findOne({ where, transaction, lock: transaction.LOCK.KEY_SHARE });
  if (session === null) fail('unauthorized', 'The session has ended. Sign in again.');
  if (actorKind !== 'operator') return null;
  const operating = await db.accounts.findOne({ where: { id: accountId, role: 'operator' }, transaction });
  return operating === null ? fail('not_found', 'No endpoint exists at this path.') : null;
}

const hasEnded = (at: Date | null, clock: Clock) => at !== null && at <= clock.now();

/**
 * Locks an account, so that one transaction at a time changes it or creates what it is limited in. Calls whose rows only reference the account do not
 * wait. @returns null if it was deleted.
 */
export function lockAccount(
  deps: Deps,
  transaction: Transaction,
  accountId: string,
): Promise<Account | null> {
  return deps.db.accounts.findByPk(accountId, { transaction, lock: transaction.LOCK.NO_KEY_UPDATE });
}

/** @throws Failure `unauthorized`. */
export function failDeleted(): never {
  fail('unauthorized', 'The account of this credential no longer exists.');
}

/**
 * Locks an account until the end of the transaction, if it has not changed since it was read. If two requests prove a password or a link at the same
 * time, the second one finds that the first has invalidated its proof.
 * @returns false if the account was deleted, or its password, e-mail address, status or role has changed.
 */
export async function lockAccountIfUnchanged(
  deps: Deps,
  transaction: Transaction,
  { id, credentialVersion, status, role }: Account,
): Promise<boolean> {
  const lock = transaction.LOCK.NO_KEY_UPDATE;
  const where = { id, credentialVersion, status, role: role ?? null };
  const locked = await deps.db.accounts.findOne({ where, transaction, lock });
  return locked !== null;
}

/**
 * Catches the errors of a transaction that gives an account its e-mail address. @throws Failure `email_taken` with the message if another account signs
 * in with the address; otherwise the error.
 */
export function failIfTaken(message: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof UniqueConstraintError) fail('email_taken', message);
    throw error;
  };
}
