// The usage of an account: the month's counter, and sums over the ledger. A bigint reaches Sequelize as text; the sums are cast to float8, which is
// exact up to 2^53.
import type { AccountsDatabase } from '../database.ts';

export const intervals = ['day', 'month'] as const;
export const groups = ['key', 'endpoint', 'status'] as const;
export type Interval = (typeof intervals)[number];
export type Group = (typeof groups)[number];

/** Calls answered, and those that count against the month. */
export type Sums = { calls: number; billed: number };

/** The served calls of the month, as far as gateways have reported them. @param month `YYYY-MM-01` */
export async function selectUsed(db: AccountsDatabase, accountId: string, month: string): Promise<number> {
  const rows = await db.read<{ used: number }>(
    'select used::float8 as used from accounts.quota_months where account_id = $1 and month = $2',
    { bind: [accountId, month] },
  );
  return rows[0]?.used ?? 0;
}

/** The month's calls by key, most calls first. */
export function selectUsageByKey(
  db: AccountsDatabase,
  accountId: string,
  month: string,
): Promise<({ key_id: string; name: string | null; masked: string | null } & Sums)[]> {
  return db.read(
    `select key_id, key.name, key.mask as masked, sum(calls)::float8 as calls, sum(billed)::float8 as billed
     from accounts.usage_daily as usage left join accounts.api_keys as key on key.id = usage.key_id
     where usage.account_id = $1 and day >= $2::date and day < $2::date + interval '1 month'
     group by key_id, key.name, key.mask
     order by calls desc, key_id`,
    { bind: [accountId, month] },
  );
}

/** The month's calls by endpoint, most calls first. */
export function selectUsageByEndpoint(
  db: AccountsDatabase,
  accountId: string,
  month: string,
): Promise<({ endpoint: string } & Sums)[]> {
  return db.read(
    `select endpoint, sum(calls)::float8 as calls, sum(billed)::float8 as billed
     from accounts.usage_daily
     where account_id = $1 and day >= $2::date and day < $2::date + interval '1 month'
     group by endpoint
     order by calls desc, endpoint`,
    { bind: [accountId, month] },
  );
}

const dateOf: Record<Interval, string> = {
  day: 'day',
  month: `(date_trunc('month', day) + interval '1 month - 1 day')::date`, // a month is dated to its last day
};

const columnOf: Record<Group, string> = {
  key: 'key_id',
  endpoint: 'endpoint',
  status: `status_class || 'xx' as status`,
};

export type HistoryRow = { date: string; key_id?: string; endpoint?: string; status?: string } & Sums;

/** The calls per day or month from `from` to `to`, both inclusive, oldest first; days or months without calls are omitted. */
export function selectHistory(
  db: AccountsDatabase,
  accountId: string,
  wish: { from: string; to: string; interval: Interval; by: Group | undefined },
): Promise<HistoryRow[]> {
  const group = wish.by === undefined ? '' : `${columnOf[wish.by]}, `;
  const keys = wish.by === undefined ? '1' : '1, 2';
  return db.read(
    `select ${dateOf[wish.interval]}::text as date, ${group}sum(calls)::float8 as calls, sum(billed)::float8 as billed
     from accounts.usage_daily
     where account_id = $1 and day between $2 and $3
     group by ${keys}
     order by ${keys}`,
    { bind: [accountId, wish.from, wish.to] },
  );
}
