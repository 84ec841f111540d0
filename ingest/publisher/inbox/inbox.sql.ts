// The lock of the watched folder: one publisher at a time processes its files.
import type { Transaction } from '../../../kernel/database.ts';
import { tryLock } from '../../load/lock/load-lock.sql.ts';

const inboxLock = 4_115_229; // an arbitrary constant

/** Locks until the transaction ends; waits for the present holder. */
export async function lockInbox(on: Transaction): Promise<void> {
  await on.query('select pg_advisory_xact_lock($1)', [inboxLock]);
}

/** Locks until the transaction ends. @returns false if another publisher holds the lock. */
export const tryLockInbox = (on: Transaction): Promise<boolean> => tryLock(on, inboxLock);
