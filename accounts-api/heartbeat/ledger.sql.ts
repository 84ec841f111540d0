// The statements that record served calls. Each receives its part of a batch as one JSON array and locks rows in primary key order, so that
// concurrent batches may wait for each other but never deadlock.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { Batch } from '../../kernel/heartbeat/message.ts';

/** Marks a batch as settled. @returns false if it was settled before; waits for a batch that is being settled. */
export async function insertSettledBatch(
  db: AccountsDatabase,
  transaction: Transaction,
  batchId: string,
  now: Date,
): Promise<boolean> {
  return db.hasRow(
    `insert into accounts.settled_batches (batch_id, at) values ($1, $2) on conflict do nothing returning true`,
    { bind: [batchId, now], transaction },
  );
}

/** Adds calls to the ledger. */
export async function addUsage(
  db: AccountsDatabase,
  transaction: Transaction,
  entries: Batch['usage'],
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
    { bind: [JSON.stringify(entries)], transaction },
  );
}

/** Charges calls that were served without a block, regardless of the limit. Creates missing month rows. */
export async function chargeQuota(
  db: AccountsDatabase,
  transaction: Transaction,
  charges: Batch['charges'],
): Promise<void> {
  await db.sequelize.query(
    `with charge as (
       select account_id, month, sum(calls) as calls
       from json_to_recordset($1::json) as charge(account_id text, month date, calls bigint)
       group by account_id, month
     ), existing as materialized (
       select id from accounts.accounts where id in (select account_id from charge) order by id for key share
     )
     insert into accounts.quota_months as quota (account_id, month, used)
     select account_id, month, calls from charge join existing on id = account_id
     order by account_id, month
     on conflict (account_id, month) do update set used = quota.used + excluded.used`,
    { bind: [JSON.stringify(charges)], transaction },
  );
}

/** Moves `last_used_at` forward if it is at least a minute old; never past `now`, whatever a gateway's clock says. */
export async function touchKeys(
  db: AccountsDatabase,
  transaction: Transaction,
  uses: Batch['last_used'],
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
    { bind: [JSON.stringify(uses), now], transaction },
  );
}
