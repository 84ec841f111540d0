// Selects the operators, for mails to them.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

/** The ids of the accounts with the role operator that are not disabled. */
export async function selectOperators(db: AccountsDatabase, transaction: Transaction): Promise<string[]> {
  const rows = await db.sequelize.query<{ id: string }>(
    `select id from accounts.accounts where role = 'operator' and status = 'active' order by id`,
    { type: QueryTypes.SELECT, transaction },
  );
  return rows.map(({ id }) => id);
}
