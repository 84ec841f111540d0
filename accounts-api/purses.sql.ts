// The statements about purses: calls that were charged to a month in advance, to be spent by gateways in Redis.
// As all that touches a month, each locks the month's rows first, in the order of their keys.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from './database.ts';
import type { Allowance } from './internal.sql.ts';

export interface Refill {
  account_id: string;
  /** `YYYY-MM-01` */
  month: string;
  purse_id: string;
  /** All that was ever granted to the purse, as far as its Redis knows. */
  seen: number;
  /** Calls that are wanted beyond what the purse holds. */
  calls: number;
}

export interface RefilledRow {
  account_id: string;
  /** All that was ever granted to the purse. */
  granted: number;
  /** What is charged to the month outside the purse. */
  elsewhere: number;
  limit: number | null;
  /** Another purse has taken its place: it must not be spent from any more. */
  closed: boolean;
}

/** A purse is filled with so much of what is left at once: many questions are saved, and little is stranded by a lost Redis. */
const partOfRest = 50;
const refillMax = 1_000;

/**
 * Charges the months with what the purses are filled with: what is lacking, or a part of what is left where that is more.
 * A purse that was filled since its Redis looked is not filled again. A purse that is new closes all others of the month.
 * @returns a row for each account that is active and has a row for the month.
 */
export function refillPurses(
  db: AccountsDatabase,
  refills: readonly Refill[],
  allowances: readonly Allowance[],
  now: Date,
): Promise<RefilledRow[]> {
  return db.sequelize.query(
    `with asked as (
       select * from json_to_recordset($1::json)
         as asked(account_id text, month date, purse_id text, seen bigint, calls bigint)
     ), plan as (
       select * from json_to_recordset($2::json) as plan(id text, calls_month bigint)
     ), locked as materialized (
       select account_id, month, quota.used, asked.purse_id, asked.seen, asked.calls
       from accounts.quota_months as quota join asked using (account_id, month)
       order by account_id, month
       for no key update of quota
     ), purse as materialized (
       select account_id, month, purse_id, purse.granted, purse.closed_at
       from locked join accounts.quota_purses as purse using (account_id, month, purse_id)
       for no key update of purse
     ), wanted as materialized (
       select locked.*, plan.calls_month, purse.closed_at is not null as closed,
              locked.calls - (coalesce(purse.granted, 0) - locked.seen) as lacking,
              case when plan.calls_month is null then ${refillMax}
                   else greatest(plan.calls_month - locked.used, 0) end as rest
       from locked left join purse using (account_id, month, purse_id)
       join accounts.accounts as account on account.id = account_id and account.status = 'active'
       join plan on plan.id = case when account.plan in (select id from plan) then account.plan else 'free' end
     ), grants as materialized (
       select *, case when closed or lacking <= 0 then 0
                      when calls_month is null then greatest(lacking, ${refillMax})
                      else least(rest, greatest(lacking, least(rest / ${partOfRest}, ${refillMax}))) end as added
       from wanted
     ), charged as (
       update accounts.quota_months as quota set used = quota.used + grants.added
       from grants
       where quota.account_id = grants.account_id and quota.month = grants.month and grants.added > 0
     ), others as (
       update accounts.quota_purses as other set closed_at = $3
       from grants
       where other.account_id = grants.account_id and other.month = grants.month
         and other.purse_id <> grants.purse_id and other.closed_at is null and not grants.closed
     ), filled as (
       insert into accounts.quota_purses as purse (account_id, month, purse_id, granted)
       select account_id, month, purse_id, added from grants
       on conflict (account_id, month, purse_id) do update set granted = purse.granted + excluded.granted
       returning account_id, granted
     )
     select grants.account_id, filled.granted::float8 as granted, grants.closed, calls_month::float8 as "limit",
            (grants.used + grants.added - filled.granted)::float8 as elsewhere
     from grants join filled using (account_id)`,
    {
      bind: [JSON.stringify(refills), JSON.stringify(allowances), now],
      type: QueryTypes.SELECT,
    },
  );
}

export interface Spent {
  account_id: string;
  /** `YYYY-MM-01` */
  month: string;
  purse_id: string;
  /** All that was ever spent from the purse. */
  spent: number;
}

/** Notes what was spent, never backwards. What was spent of a purse beyond what it was reclaimed at is charged now. */
export async function noteSpent(
  db: AccountsDatabase,
  transaction: Transaction,
  spent: readonly Spent[],
): Promise<void> {
  await db.sequelize.query(
    `with told as (
       select account_id, month, purse_id, max(spent) as spent
       from json_to_recordset($1::json) as told(account_id text, month date, purse_id text, spent bigint)
       group by account_id, month, purse_id
     ), locked as materialized (
       select account_id, month from accounts.quota_months as quota
       where (account_id, month) in (select account_id, month from told)
       order by account_id, month
       for no key update
     ), purse as materialized (
       select account_id, month, purse_id, told.spent, purse.granted, purse.reclaimed_at
       from locked join accounts.quota_purses as purse using (account_id, month)
            join told using (account_id, month, purse_id)
       where told.spent > purse.spent
       for no key update of purse
     ), owed as (
       select account_id, month, sum(spent - granted) as calls
       from purse where reclaimed_at is not null and spent > granted
       group by account_id, month
     ), charged as (
       update accounts.quota_months as quota set used = quota.used + owed.calls
       from owed where quota.account_id = owed.account_id and quota.month = owed.month
     )
     update accounts.quota_purses as purse set spent = told.spent, granted = greatest(purse.granted, told.spent)
     from purse as told
     where purse.account_id = told.account_id and purse.month = told.month and purse.purse_id = told.purse_id`,
    { bind: [JSON.stringify(spent)], type: QueryTypes.RAW, transaction },
  );
}

/** Gives back what was not spent of purses that were closed before `closedBefore`. @returns how many purses those were. */
export async function reclaimPurses(db: AccountsDatabase, closedBefore: Date, now: Date): Promise<number> {
  const rows = await db.sequelize.query(
    `with closed as materialized (
       select account_id, month, purse_id from accounts.quota_purses
       where closed_at < $1 and reclaimed_at is null
       limit 500
     ), locked as materialized (
       select account_id, month from accounts.quota_months
       where (account_id, month) in (select account_id, month from closed)
       order by account_id, month
       for no key update
     ), purse as materialized (
       select account_id, month, purse_id, purse.granted - purse.spent as calls
       from locked join accounts.quota_purses as purse using (account_id, month)
            join closed using (account_id, month, purse_id)
       where purse.reclaimed_at is null
       for no key update of purse
     ), back as (
       select account_id, month, sum(calls) as calls from purse group by account_id, month
     ), given as (
       update accounts.quota_months as quota set used = greatest(quota.used - back.calls, 0)
       from back where quota.account_id = back.account_id and quota.month = back.month
     )
     update accounts.quota_purses as reclaimed set granted = reclaimed.spent, reclaimed_at = $2
     from purse
     where reclaimed.account_id = purse.account_id and reclaimed.month = purse.month
       and reclaimed.purse_id = purse.purse_id
     returning true`,
    { bind: [closedBefore, now], type: QueryTypes.SELECT },
  );
  return rows.length;
}
