// Finds the account of a caller, locks it while it has not changed, and reports an e-mail address that another account has.
import { UniqueConstraintError, type Transaction } from 'sequelize';
import { fail } from '../../kernel/errors.ts';
import type { Deps } from '../database.ts';
import type { Account } from './account.ts';

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
