// The statements behind the gateway's batches. Each takes its batch as one JSON array and locks rows in the order of
// their primary keys, so that concurrent batches may wait for each other but never deadlock.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

export interface CredentialRow {
  hash: string;
  account_id: string;
  key_id: string;
  /** As stored. */
  plan: string;
  active: boolean;
  expires_at: Date | null;
  revision: number;
  /** The generation of the credential cache at the time of reading. */
  generation: number;
  /** The replication id of the cache's Redis server. */
  replicationId: string | null;
}

/** The valid keys with the hashes, in any order. `active` is false while the subscription is unpaid. */
export function selectCredentials(
  db: AccountsDatabase,
  hashes: readonly string[],
  now: Date,
): Promise<CredentialRow[]> {
  return db.sequelize.query(
    `select key.hash, key.account_id, key.id as key_id, account.plan,
            account.subscription_state <> 'inactive' as active, key.expires_at,
            (account.revision + key.revision)::float8 as revision, cache.generation::float8 as generation,
            cache.replication_id as "replicationId"
     from accounts.api_keys as key join accounts.accounts as account on account.id = key.account_id
          cross join accounts.credential_cache as cache
     where key.hash = any($1::text[]) and key.revoked_at is null
       and (key.expires_at is null or key.expires_at > $2) and account.status = 'active'`,
    { bind: [hashes, now], type: QueryTypes.SELECT },
  );
}

/** A plan's allowance. `calls_month` null: unlimited. */
export interface Allowance {
  id: string;
  calls_month: number | null;
}

/** Makes the month rows of the accounts, once per account and month. Unknown accounts get none. */
export async function insertQuotaMonths(
  db: AccountsDatabase,
  accountIds: readonly string[],
  month: string,
): Promise<void> {
  await db.sequelize.query(
    `insert into accounts.quota_months (account_id, month)
     select id, $2::date from accounts.accounts where id = any($1::text[]) order by id
     on conflict do nothing`,
    { bind: [accountIds, month], type: QueryTypes.RAW },
  );
}

/** Marks a batch as settled. @returns false if it was settled before; waits for one that is being settled. */
export async function insertSettledBatch(
  db: AccountsDatabase,
  transaction: Transaction,
  batchId: string,
  now: Date,
): Promise<boolean> {
  const rows = await db.sequelize.query(
    `insert into accounts.settled_batches (batch_id, at) values ($1, $2) on conflict do nothing returning true`,
    { bind: [batchId, now], type: QueryTypes.SELECT, transaction },
  );
  return rows.length === 1;
}

/**
 * Locks months in the order of their keys until the transaction ends. Call it once, for all months that the transaction touches:
 * locking more of them later could deadlock.
 */
export async function lockMonths(
  db: AccountsDatabase,
  transaction: Transaction,
  months: readonly { account_id: string; month: string }[],
): Promise<void> {
  await db.sequelize.query(
    `select from accounts.quota_months
     where (account_id, month) in (select account_id, month
                                   from json_to_recordset($1::json) as touched(account_id text, month date))
     order by account_id, month
     for no key update`,
    { bind: [JSON.stringify(months)], type: QueryTypes.RAW, transaction },
  );
}

export interface UsageEntry {
  account_id: string;
  key_id: string;
  /** `YYYY-MM-DD`, UTC. */
  day: string;
  endpoint: string;
  status_class: number;
  calls: number;
  billed: number;
}

/** Adds calls to the ledger. */
export async function addUsage(
  db: AccountsDatabase,
  transaction: Transaction,
  entries: readonly UsageEntry[],
): Promise<void> {
  await db.sequelize.query(
    `insert into accounts.usage_daily as ledger
            (account_id, day, key_id, endpoint, status_class, calls, billed)
     select account_id, day, key_id, endpoint, status_class, sum(calls), sum(billed)
     from json_to_recordset($1::json) as entry(account_id text, day date, key_id text, endpoint text,
                                               status_class smallint, calls bigint, billed bigint)
     group by account_id, day, key_id, endpoint, status_class
     order by account_id, day, key_id, endpoint, status_class
     on conflict (account_id, day, key_id, endpoint, status_class) do update
       set calls = ledger.calls + excluded.calls, billed = ledger.billed + excluded.billed`,
    { bind: [JSON.stringify(entries)], type: QueryTypes.RAW, transaction },
  );
}

export interface Charge {
  account_id: string;
  /** `YYYY-MM-01` */
  month: string;
  calls: number;
}

/** Charges calls that were served during an outage, regardless of the limit. Makes missing month rows. */
export async function chargeQuota(
  db: AccountsDatabase,
  transaction: Transaction,
  charges: readonly Charge[],
): Promise<void> {
  await db.sequelize.query(
    `insert into accounts.quota_months as quota (account_id, month, used)
     select account_id, month, sum(calls)
     from json_to_recordset($1::json) as charge(account_id text, month date, calls bigint)
     join accounts.accounts as account on account.id = account_id
     group by account_id, month
     order by account_id, month
     on conflict (account_id, month) do update set used = quota.used + excluded.used`,
    { bind: [JSON.stringify(charges)], type: QueryTypes.RAW, transaction },
  );
}

export interface LastUse {
  key_id: string;
  /** ISO instant. */
  at: string;
}

/** Moves `last_used_at` forward if it is at least a minute old; never past `now`, whatever a gateway's clock says. */
export async function touchKeys(
  db: AccountsDatabase,
  transaction: Transaction,
  uses: readonly LastUse[],
  now: Date,
): Promise<void> {
  await db.sequelize.query(
    `with use as (
       select key_id, least(max(at), $2::timestamptz) as at
       from json_to_recordset($1::json) as use(key_id text, at timestamptz)
       group by key_id
     ), locked as materialized (
       select key.id, use.at
       from accounts.api_keys as key join use on use.key_id = key.id
       where key.last_used_at is null or use.at >= key.last_used_at + interval '1 minute'
       order by key.id
       for no key update of key
     )
     update accounts.api_keys as key set last_used_at = locked.at
     from locked
     where key.id = locked.id and (key.last_used_at is null or locked.at >= key.last_used_at + interval '1 minute')`,
    { bind: [JSON.stringify(uses), now], type: QueryTypes.RAW, transaction },
  );
}
