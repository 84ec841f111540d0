// The statements about charged files. A charge is a row of settled_batches, like a batch: it counts once, and is deleted after a week, long after its
// day.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { Batch } from '../../kernel/heartbeat/message.ts';

/** Inserts charges by their ids, in order, so that concurrent batches do not deadlock. @returns the new ones. */
export async function insertCharges(
  { sequelize }: AccountsDatabase,
  transaction: Transaction,
  ids: readonly string[],
  now: Date,
): Promise<Set<string>> {
  const rows = await sequelize.query<{ id: string }>(
    `insert into accounts.settled_batches (batch_id, at) select id, $2 from unnest($1::uuid[]) with ordinality as charge(id, place)
     order by place on conflict do nothing returning batch_id as id`,
    { bind: [[...ids], now], type: QueryTypes.SELECT, transaction },
  );
  return new Set(rows.map(({ id }) => id));
}

/** Refunds a call for each file, in the ledger and in its month, which the transaction has locked. */
export async function refundCalls(
  { sequelize }: AccountsDatabase,
  transaction: Transaction,
  files: Batch['files'],
): Promise<void> {
  await sequelize.query(
    `with file as materialized (
       select * from json_to_recordset($1::json)
         as file(account_id text, day date, key_id text, endpoint text, status_class smallint)
     ), ledger as (
       update accounts.usage_daily as ledger set billed = greatest(ledger.billed - given.calls, 0)
       from (select account_id, day, key_id, endpoint, status_class, count(*) as calls from file
             group by account_id, day, key_id, endpoint, status_class) given
       where (ledger.account_id, ledger.day, ledger.key_id, ledger.endpoint, ledger.status_class) =
             (given.account_id, given.day, given.key_id, given.endpoint, given.status_class)
     )
     update accounts.quota_months as quota
     set used = greatest(quota.used - given.calls, 0), served = greatest(quota.served - given.calls, 0)
     from (select account_id, date_trunc('month', day)::date as month, count(*) as calls from file
           group by account_id, date_trunc('month', day)) given
     where quota.account_id = given.account_id and quota.month = given.month`,
    { bind: [JSON.stringify(files)], type: QueryTypes.RAW, transaction },
  );
}
