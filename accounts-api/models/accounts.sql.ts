// Finds accounts by what they are known by, other than their id.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { Account } from './account.ts';

/** The account that signs in by an e-mail address (case-insensitive), or null. */
export async function findAccountByEmail(
  db: AccountsDatabase,
  email: string,
  transaction: Transaction | null = null,
): Promise<Account | null> {
  const rows = await db.sequelize.query(
    `select * from accounts.accounts where lower(email) = lower($1) and email_signs_in`,
    {
      bind: [email],
      type: QueryTypes.SELECT,
      model: db.accounts,
      mapToModel: true,
      transaction,
    },
  );
  return rows[0] ?? null;
}

/** The ids of the accounts with the role operator that are not disabled. */
export async function selectOperators(db: AccountsDatabase, transaction: Transaction): Promise<string[]> {
  const rows = await db.read<{ id: string }>(
    `select id from accounts.accounts where role = 'operator' and status = 'active' order by id`,
    { transaction },
  );
  return rows.map(({ id }) => id);
}
