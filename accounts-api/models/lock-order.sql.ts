// The locks to acquire before an account is deleted. PostgreSQL deletes the account's rows in its own order, while concurrent transactions lock them in
// the order below; closing must use the same order.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

/** The tables whose rows are locked, with the order of the rows. */
const lockOrder = {
  /** Locked before the account: a fetch from Stripe locks its customer first. */
  'accounts.billing_customers': 'id',
  /** Locked before the account: a month is locked before its account is read. */
  'accounts.quota_months': 'month',
  /** Locked after the account, and before its webhooks: a worker locks an event before the webhooks that receive it. */
  'events.outbox': 'position',
  /** Locked after the account, as in every change of a key. */
  'accounts.api_keys': 'id',
  'accounts.webhooks': 'id',
  'accounts.follows': 'id',
} as const;

/** Locks an account's rows of one table. See `lockOrder` for when to call it. */
export async function lockRowsOf(
  db: AccountsDatabase,
  transaction: Transaction,
  table: keyof typeof lockOrder,
  accountId: string,
): Promise<void> {
  await db.sequelize.query(
    `select from ${table} where account_id = $1 order by ${lockOrder[table]} for update`,
    { bind: [accountId], transaction },
  );
}

/** Locks the rows that are locked after their account, which the transaction has locked. */
export async function lockOwnedRows(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
): Promise<void> {
  for (const table of [
    'events.outbox',
    'accounts.api_keys',
    'accounts.webhooks',
    'accounts.follows',
  ] as const)
    await lockRowsOf(db, transaction, table, accountId);
}
