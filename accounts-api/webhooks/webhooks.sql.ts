// The statements for webhook endpoints, except reading or writing a single row by id.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

/** Deletes the endpoints of an account, with their pending messages. @returns those deleted. */
export function deleteWebhooksOf(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
): Promise<{ id: string; url: string }[]> {
  return db.read('delete from accounts.webhooks where account_id = $1 returning id, url', {
    bind: [accountId],
    transaction,
  });
}

/** Some endpoints whose secret or previous secret was encrypted with another key, locked; without those locked elsewhere. @param keyId of the current key. */
export async function selectOutdatedSecrets(
  db: AccountsDatabase,
  transaction: Transaction,
  { keyId, after, limit }: { keyId: string; after: string; limit: number },
): Promise<{ id: string; secret: string; previous_secret: string | null }[]> {
  return db.read(
    `select id, secret, previous_secret from accounts.webhooks
     where id > $2 and (split_part(secret, '.', 1) <> $1 or split_part(previous_secret, '.', 1) <> $1)
     order by id limit $3 for no key update skip locked`,
    { bind: [keyId, after, limit], transaction },
  );
}

/** Deletes the previous secrets that are no longer used for signing; those of endpoints locked elsewhere at the next run. */
export async function deletePreviousSecrets(db: AccountsDatabase, now: Date): Promise<void> {
  await db.sequelize.query(
    `update accounts.webhooks set previous_secret = null, previous_secret_until = null
     where id in (select id from accounts.webhooks where previous_secret_until <= $1 for no key update skip locked)`,
    { bind: [now] },
  );
}

/** The number of endpoints, and the number of those with an active secret, current or previous, that was encrypted with an unknown key. */
export async function countWebhooks(
  db: AccountsDatabase,
  { keyIds, now }: { keyIds: readonly string[]; now: Date },
): Promise<{ all: number; unreadable: number }> {
  const rows = await db.read<{ all: number; unreadable: number }>(
    `select count(*)::int as all, (count(*) filter (where split_part(secret, '.', 1) <> all($1::text[])
       or previous_secret_until > $2 and split_part(previous_secret, '.', 1) <> all($1::text[])))::int as unreadable
     from accounts.webhooks`,
    { bind: [keyIds, now] },
  );
  return rows[0] ?? { all: 0, unreadable: 0 };
}
