// The locks to take before an account is deleted. PostgreSQL deletes the account's rows in an order of its own; concurrent
// settlements lock months first, then keys in the order of their ids, and so does closing.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

/** The tables whose rows are locked, each in its order. */
const lockOrder = {
  /** Before the account: a fetch from Stripe locks its customer first. */
  billing_customers: 'id',
  /** Before the account: a month is locked before its account is read. */
  quota_months: 'month',
  /** After the account, as everything that changes a key does. */
  api_keys: 'id',
} as const;

/** Locks the rows of an account in a table. See `lockOrder` for when to call it. */
export async function lockRowsOf(
  db: AccountsDatabase,
  transaction: Transaction,
  table: keyof typeof lockOrder,
  accountId: string,
): Promise<void> {
  await db.sequelize.query(
    `select from accounts.${table} where account_id = $1 order by ${lockOrder[table]} for update`,
    { bind: [accountId], type: QueryTypes.RAW, transaction },
  );
}
