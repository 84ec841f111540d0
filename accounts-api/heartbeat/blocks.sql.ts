// The statements about blocks. Each locks the months first, ordered by their keys, like all changes of a month. Only a transaction that has locked a
// month changes its blocks, except that a life clears the recall of its own blocks.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { Block, Month } from './block-rules.ts';

export interface MonthKey {
  account_id: string;
  /** `YYYY-MM-01` */
  month: string;
}
export type MonthRow = MonthKey & Month;
export type BlockRow = MonthKey & Block & { life: string };

const monthColumns = 'account_id, month::text, used::float8 as used, out::float8 as out';
const blockColumns =
  'block.granted::float8 as granted, block.spent::float8 as spent, block.returned::float8 as returned';

/**
 * Locks months in the order of their keys until the transaction ends. Call it once, for all months that the transaction touches: locking more of them
 * later could deadlock.
 */
export function lockMonths(
  { sequelize }: AccountsDatabase,
  transaction: Transaction,
  months: readonly MonthKey[],
): Promise<MonthRow[]> {
  return sequelize.query(
    `select ${monthColumns} from accounts.quota_months as quota
     where (account_id, month) in (select account_id, month
                                   from json_to_recordset($1::json) as touched(account_id text, month date))
     order by quota.account_id, quota.month for no key update`,
    { bind: [JSON.stringify(months)], type: QueryTypes.SELECT, transaction },
  );
}

/** Writes months and blocks that the transaction has locked. */
export async function write(
  { sequelize }: AccountsDatabase,
  transaction: Transaction,
  months: readonly MonthRow[],
  blocks: readonly BlockRow[],
): Promise<void> {
  await sequelize.query(
    `with month as (
       update accounts.quota_months as quota set used = entry.used, out = entry.out
       from json_to_recordset($1::json) as entry(account_id text, month date, used bigint, out bigint)
       where quota.account_id = entry.account_id and quota.month = entry.month
     )
     update accounts.quota_blocks as block set granted = entry.granted, spent = entry.spent, returned = entry.returned
     from json_to_recordset($2::json)
       as entry(account_id text, month date, life uuid, granted bigint, spent bigint, returned bigint)
     where block.account_id = entry.account_id and block.month = entry.month and block.life = entry.life`,
    { bind: [JSON.stringify(months), JSON.stringify(blocks)], type: QueryTypes.RAW, transaction },
  );
}

/** The plan id as stored. */
export type WantedRow = MonthRow & BlockRow & { plan: string };

/** Locks months with a life's blocks in them. @returns those of active accounts that have a block. */
export function lockWanted(
  { sequelize }: AccountsDatabase,
  transaction: Transaction,
  life: string,
  months: readonly MonthKey[],
): Promise<WantedRow[]> {
  return sequelize.query(
    `with asked as (
       select * from json_to_recordset($1::json) as asked(account_id text, month date)
     ), locked as materialized (
       select account_id, month, quota.used, quota.out from accounts.quota_months as quota join asked using (account_id, month)
       order by account_id, month
       for no key update of quota
     )
     select account_id, month::text, locked.used::float8 as used, locked.out::float8 as out, account.plan,
            block.life, ${blockColumns}
     from locked join accounts.quota_blocks as block using (account_id, month)
          join accounts.accounts as account on account.id = account_id and account.status = 'active'
     where block.life = $2
     for no key update of block`,
    { bind: [JSON.stringify(months), life], type: QueryTypes.SELECT, transaction },
  );
}

/** Creates empty blocks of a life, and their months, unless the life has ended. Unknown and disabled accounts get none. */
export async function insertBlocks(
  { sequelize }: AccountsDatabase,
  life: string,
  months: readonly MonthKey[],
): Promise<void> {
  await sequelize.query(
    `with living as materialized (
       select life from accounts.gateways where life = $2 for key share
     ), asked as materialized (
       select asked.account_id, asked.month, living.life
       from living cross join json_to_recordset($1::json) as asked(account_id text, month date)
       join accounts.accounts as account on account.id = asked.account_id and account.status = 'active'
       order by asked.account_id, asked.month
       for key share of account
     ), month as (
       insert into accounts.quota_months (account_id, month) select account_id, month from asked on conflict do nothing
     )
     insert into accounts.quota_blocks (account_id, month, life) select account_id, month, life from asked on conflict do nothing`,
    { bind: [JSON.stringify(months), life], type: QueryTypes.RAW },
  );
}

/** Recalls the blocks of other lives, in months that the transaction has locked; their waiting messages are then answered. */
export async function recall(
  { sequelize }: AccountsDatabase,
  transaction: Transaction,
  life: string,
  months: readonly MonthKey[],
): Promise<void> {
  await sequelize.query(
    `with other as materialized (
       select account_id, month, life from accounts.quota_blocks as block
         join json_to_recordset($1::json) as named(account_id text, month date) using (account_id, month)
       where life <> $2 and granted > spent + returned and not recalled
       for no key update of block skip locked
     ), recalled as (
       update accounts.quota_blocks as block set recalled = true
       from other where block.account_id = other.account_id and block.month = other.month and block.life = other.life
       returning true
     )
     select pg_notify('almanac_changes', '') where exists (select from recalled)`,
    { bind: [JSON.stringify(months), life], type: QueryTypes.RAW, transaction },
  );
}

/** Reads the recalled blocks of a life, once. If the answer is lost, the gateway that waits for calls recalls them again. */
export function claimRecalled(
  { sequelize }: AccountsDatabase,
  life: string,
): Promise<(MonthKey & { granted: number })[]> {
  return sequelize.query(
    `with recalled as (
       select account_id, month from accounts.quota_blocks where life = $1 and recalled for no key update skip locked
     )
     update accounts.quota_blocks as block set recalled = false
     from recalled where block.account_id = recalled.account_id and block.month = recalled.month and life = $1
     returning block.account_id, block.month::text, block.granted::float8 as granted`,
    { bind: [life], type: QueryTypes.SELECT },
  );
}

/** The named blocks, of months that the transaction has locked. */
export function lockBlocks(
  { sequelize }: AccountsDatabase,
  transaction: Transaction,
  blocks: readonly (MonthKey & { life: string })[],
): Promise<BlockRow[]> {
  return sequelize.query(
    `select account_id, month::text, life, ${blockColumns} from accounts.quota_blocks as block
     where (account_id, month, life) in (select account_id, month, life
       from json_to_recordset($1::json) as named(account_id text, month date, life uuid))
     for no key update`,
    { bind: [JSON.stringify(blocks)], type: QueryTypes.SELECT, transaction },
  );
}

/** Locks the months in which lives have blocks. @param skipsLocked skips those that another transaction has locked. */
export function lockMonthsOf(
  { sequelize }: AccountsDatabase,
  transaction: Transaction,
  lives: readonly string[],
  skipsLocked: boolean,
): Promise<MonthRow[]> {
  return sequelize.query(
    `select ${monthColumns} from accounts.quota_months as quota
     where (account_id, month) in (select account_id, month from accounts.quota_blocks where life = any($1::uuid[]))
     order by quota.account_id, quota.month for no key update ${skipsLocked ? 'skip locked' : ''}`,
    { bind: [lives], type: QueryTypes.SELECT, transaction },
  );
}

/** Deletes the blocks of lives in months that the transaction has locked. @returns the deleted blocks. */
export function deleteBlocks(
  { sequelize }: AccountsDatabase,
  transaction: Transaction,
  lives: readonly string[],
  months: readonly MonthKey[],
): Promise<BlockRow[]> {
  return sequelize.query(
    `delete from accounts.quota_blocks as block using json_to_recordset($2::json) as locked(account_id text, month date)
     where life = any($1::uuid[]) and block.account_id = locked.account_id and block.month = locked.month
     returning block.account_id, block.month::text, life, ${blockColumns}`,
    { bind: [lives, JSON.stringify(months)], type: QueryTypes.SELECT, transaction },
  );
}
