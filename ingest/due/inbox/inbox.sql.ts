// The lock of the watched folder: files of it are worked on by one publisher at a time.
import type { Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';

const inboxLock = 4_115_229; // an arbitrary constant

/** Held until the transaction ends; waits for the present holder. */
export async function lockInbox(on: Transaction): Promise<void> {
  await on.query('select pg_advisory_xact_lock($1)', [inboxLock]);
}

/** Held until the transaction ends. @returns false: another publisher has it at present. */
export async function tryLockInbox(on: Transaction): Promise<boolean> {
  const tried = await on.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [
    inboxLock,
  ]);
  return entryAt(tried, 0).locked;
}
