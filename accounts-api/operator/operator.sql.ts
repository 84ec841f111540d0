// The operator's lookups of accounts and keys.
import { Op, QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { Account } from '../models/account.ts';
import type { ApiKey } from '../models/api-key.ts';

/** The account with an e-mail address, in any case, or null. */
export async function findAccountByEmail(
  db: AccountsDatabase,
  email: string,
  transaction: Transaction | null = null,
): Promise<Account | null> {
  const rows = await db.sequelize.query('select * from accounts.accounts where lower(email) = lower($1)', {
    bind: [email],
    type: QueryTypes.SELECT,
    model: db.accounts,
    mapToModel: true,
    transaction,
  });
  return rows[0] ?? null;
}

/** The keys that match: at most one by id or by the hash of its value, possibly several by mask. */
export function findKeys(
  db: AccountsDatabase,
  by: { hash: string } | { idOrMask: string },
): Promise<ApiKey[]> {
  const where = 'hash' in by ? { hash: by.hash } : { [Op.or]: [{ id: by.idOrMask }, { mask: by.idOrMask }] };
  return db.keys.findAll({ where, order: ['createdAt'] });
}
