// The statements for external identities. An identity is (issuer, subject) and belongs to one account.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

/** The accounts that have an external identity. */
export async function selectLinked(
  db: AccountsDatabase,
  accountIds: readonly string[],
): Promise<Set<string>> {
  const rows = await db.read<{ account_id: string }>(
    'select distinct account_id from accounts.identities where account_id = any($1::text[])',
    { bind: [accountIds] },
  );
  return new Set(rows.map((row) => row.account_id));
}

/** The account of an identity, or null. Both are locked until the transaction ends, the account first, as in every other change of an account. */
export async function selectAccountIdOf(
  db: AccountsDatabase,
  transaction: Transaction,
  { issuer, subject }: { issuer: string; subject: string },
): Promise<string | null> {
  const rows = await db.read<{ account_id: string }>(
    `select identity.account_id
     from accounts.identities as identity join accounts.accounts as account on account.id = identity.account_id
     where issuer = $1 and subject = $2 for key share of account, identity`,
    { bind: [issuer, subject], transaction },
  );
  return rows[0]?.account_id ?? null;
}

/** Links an identity to an account. @returns false if either is linked already. */
export async function insertIdentity(
  db: AccountsDatabase,
  transaction: Transaction,
  identity: { issuer: string; subject: string; accountId: string; email: string; now: Date },
): Promise<boolean> {
  const { issuer, subject, accountId, email, now } = identity;
  return db.hasRow(
    `insert into accounts.identities (issuer, subject, account_id, email, created_at)
     values ($1, $2, $3, $4, $5) on conflict do nothing returning true`,
    { bind: [issuer, subject, accountId, email, now], transaction },
  );
}

/** Unlinks the identities of an account. @returns how many it had. */
export async function deleteIdentitiesOf(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
): Promise<number> {
  const rows = await db.read('delete from accounts.identities where account_id = $1 returning true', {
    bind: [accountId],
    transaction,
  });
  return rows.length;
}
