// The statements for API keys, except reading or writing a single row by id.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { ApiKey } from '../models/api-key.ts';

/** The position at the end of a page of keys. */
export interface KeyPosition {
  /** False unless sorted by `status`. */
  active: boolean;
  createdAt: Date;
  id: string;
}

/**
 * The keys of an account. @param page.sort `status`: active ones first, then newest first; or `created_at`, `-created_at`.
 * @param page.after the end of the previous page.
 */
export function selectKeys(
  db: AccountsDatabase,
  accountId: string,
  page: { now: Date; sort: string; after: KeyPosition | null; limit: number },
): Promise<ApiKey[]> {
  const [behind, direction] = page.sort === 'created_at' ? ['>', 'asc'] : ['<', 'desc'];
  return db.sequelize.query(
    `select id, account_id, name, hash, mask, slot, created_at, expires_at, last_used_at, revoked_at, scopes, addresses,
            previous_until, as_of
     from (
       select *, $7 and revoked_at is null and (expires_at is null or expires_at > $2) as active
       from accounts.api_keys where account_id = $1
     ) as key
     where $3::boolean is null or (active, created_at, id) ${behind} ($3, $4::timestamptz, $5)
     order by active ${direction}, created_at ${direction}, id ${direction}
     limit $6`,
    {
      bind: [
        accountId,
        page.now,
        page.after?.active ?? null,
        page.after?.createdAt ?? null,
        page.after?.id ?? null,
        page.limit,
        page.sort === 'status',
      ],
      type: QueryTypes.SELECT,
      model: db.keys,
      mapToModel: true,
    },
  );
}

/** The number of active keys of each account; accounts without any are not in the map. */
export async function countActiveKeys(
  db: AccountsDatabase,
  accountIds: readonly string[],
  now: Date,
): Promise<Map<string, number>> {
  const rows = await db.read<{ account_id: string; active: number }>(
    `select account_id, count(*)::int as active from accounts.api_keys
     where account_id = any($1::text[]) and revoked_at is null and (expires_at is null or expires_at > $2)
     group by account_id`,
    { bind: [accountIds, now] },
  );
  return new Map(rows.map((row) => [row.account_id, row.active]));
}

/** Frees the slots of the account's expired keys. */
export async function freeExpiredSlots(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
  now: Date,
): Promise<void> {
  await db.sequelize.query(
    `update accounts.api_keys set slot = null
     where account_id = $1 and slot is not null and expires_at <= $2`,
    { bind: [accountId, now], type: QueryTypes.UPDATE, transaction },
  );
}

/** The lowest free slot of the account for one more of its keys or webhooks, or null if all `max` are taken. */
export async function lowestFreeSlot(
  db: AccountsDatabase,
  transaction: Transaction,
  { of: table, accountId, max }: { of: 'api_keys' | 'webhooks'; accountId: string; max: number },
): Promise<number | null> {
  const rows = await db.read<{ slot: number | null }>(
    `select min(slot)::int as slot from generate_series(1, $2) as slot
     where slot not in (select slot from accounts.${table} where account_id = $1 and slot is not null)`,
    { bind: [accountId, max], transaction },
  );
  return rows[0]?.slot ?? null;
}

/** When the n-th newest key of the account was made; null if it has had fewer. */
export async function selectNthNewest(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
  n: number,
): Promise<Date | null> {
  const rows = await db.read<{ created_at: Date }>(
    'select created_at from accounts.api_keys where account_id = $1 order by created_at desc offset $2 limit 1',
    { bind: [accountId, n - 1], transaction },
  );
  return rows[0]?.created_at ?? null;
}

/**
 * Marks expiring keys as announced. @param daysBefore how many days before its expiry a key is announced; one with a shorter lifetime is not.
 * @returns the ids of the keys; a thousand at most, the nearest to expiry first.
 */
export async function noteExpiringKeys(
  db: AccountsDatabase,
  transaction: Transaction,
  now: Date,
  daysBefore: readonly number[],
): Promise<string[]> {
  const rows = await db.read<{ id: string }>(
    `update accounts.api_keys set expiry_notified_at = $1
     where id in (
       select id from accounts.api_keys
       where revoked_at is null and expires_at > $1
         and expires_at <= $1::timestamptz + (select max(days) from unnest($2::int[]) as days) * interval '1 day'
         and exists (
           select from unnest($2::int[]) as days
           where expires_at <= $1::timestamptz + days * interval '1 day' and expires_at - created_at > days * interval '1 day'
             and (expiry_notified_at is null or expiry_notified_at < expires_at - days * interval '1 day'))
       order by expires_at, id limit 1000 for no key update skip locked)
     returning id`,
    { bind: [now, daysBefore], transaction },
  );
  return rows.map(({ id }) => id);
}
