// Database access on behalf of an operator: the records of changes, loads and releases name the operator's account.
import type { Database, Transaction } from '../../../kernel/database.ts';

/** Makes the transaction act for the account; `data.loads`, `data.audit_events` and `embargo.history` record it. */
export async function actAs(on: Transaction, accountId: string): Promise<void> {
  await on.query(`select set_config('almanac.account', $1, true)`, [accountId]);
}

/** The database whose transactions act for the account. */
export function actingFor(database: Database, accountId: string): Database {
  return {
    ...database,
    transaction: (work) =>
      database.transaction(async (on) => {
        await actAs(on, accountId);
        return work(on);
      }),
  };
}
