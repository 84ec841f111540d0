// The operator's lookups of accounts and keys.
import { Op, QueryTypes } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { Account } from '../models/account.ts';
import type { ApiKey } from '../models/api-key.ts';

/** The accounts that payments without a session have created for an unproved e-mail address: those with a subscription first, then the oldest. */
export function findAccountsBoughtFor(db: AccountsDatabase, email: string): Promise<Account[]> {
  return db.sequelize.query(
    `select * from accounts.accounts where lower(email) = lower($1) and not email_signs_in
     order by subscription_state = 'none', created_at, id`,
    { bind: [email], type: QueryTypes.SELECT, model: db.accounts, mapToModel: true },
  );
}

/** Which of the e-mail addresses have an account, case-insensitively; returned as given. */
export async function selectKnownEmails(
  db: AccountsDatabase,
  emails: readonly string[],
): Promise<Set<string>> {
  const rows = await db.read<{ email: string }>(
    `select asked.email from unnest($1::text[]) as asked (email)
     where exists (select from accounts.accounts as account where lower(account.email) = lower(asked.email))`,
    { bind: [emails] },
  );
  return new Set(rows.map(({ email }) => email));
}

/**
 * Marks the account with an e-mail address, if any: mail to it was refused for good. @param at null: an e-mail was accepted.
 * @returns the id of an account whose mark has changed, or null.
 */
export async function markMailRefused(
  db: AccountsDatabase,
  email: string,
  at: Date | null,
): Promise<string | null> {
  const rows = await db.read<{ id: string }>(
    `update accounts.accounts set mail_refused_at = $2
     where lower(email) = lower($1) and mail_refused_at is distinct from $2 returning id`,
    { bind: [email, at] },
  );
  return rows[0]?.id ?? null;
}

/** The keys that match: at most one by id or by the hash of its value, possibly several by mask. */
export function findKeys(
  db: AccountsDatabase,
  by: { hash: string } | { idOrMask: string },
): Promise<ApiKey[]> {
  const where =
    'hash' in by
      ? { [Op.or]: [{ hash: by.hash }, { previousHash: by.hash }] }
      : { [Op.or]: [{ id: by.idOrMask }, { mask: by.idOrMask }] };
  return db.keys.findAll({ where, order: ['createdAt'] });
}
