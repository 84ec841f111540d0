// The locks to take before an account is deleted. PostgreSQL deletes the account's rows in an order of its own; concurrent
// settlements lock months first, then keys in the order of their ids, and so does closing.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

/** Locks the months of an account. Call it before locking the account: a month is locked before its account is read. */
export async function lockMonthsOf(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
): Promise<void> {
  await db.sequelize.query(
    'select from accounts.quota_months where account_id = $1 order by month for update',
    { bind: [accountId], type: QueryTypes.RAW, transaction },
  );
}

/** Locks the keys of an account. Call it after locking the account, as everything that changes a key does. */
export async function lockKeysOf(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
): Promise<void> {
  await db.sequelize.query('select from accounts.api_keys where account_id = $1 order by id for update', {
    bind: [accountId],
    type: QueryTypes.RAW,
    transaction,
  });
}
