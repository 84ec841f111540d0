// Database access on behalf of an operator: the records of changes, loads and releases name the operator's account.
import type { Database } from '../../../kernel/database.ts';

/** The database whose transactions act for the account; `data.loads`, `data.audit_events` and `embargo.history` record it. */
export function actingFor(database: Database, accountId: string): Database {
  return {
    ...database,
    transaction: (work) =>
      database.transaction(async (on) => {
        await on.query(`select set_config('almanac.account', $1, true)`, [accountId]);
        return work(on);
      }),
  };
}
