// What is thrown away once nobody can ask for it any more.
import { QueryTypes } from 'sequelize';
import type { AccountsDatabase } from './database.ts';

/** Forgets settled batches after a week and answers to Idempotency-Keys after a day. */
export async function prune(db: AccountsDatabase, now: Date): Promise<void> {
  await db.sequelize.query(
    `with batch as (delete from accounts.settled_batches where at < $1::timestamptz - interval '7 days')
     delete from accounts.idempotency_keys where claimed_at < $1::timestamptz - interval '1 day'`,
    { bind: [now], type: QueryTypes.RAW },
  );
}
