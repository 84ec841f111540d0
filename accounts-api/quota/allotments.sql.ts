// The statements about allotments: calls that were charged to a month in advance, to be drawn by gateways.
// Each locks the month's rows first, in key order, like everything that touches a month.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { Allowance } from './internal.sql.ts';

export interface TopUp {
  account_id: string;
  /** `YYYY-MM-01` */
  month: string;
  allotment_id: string;
  /** Where it is held: in Redis, shared by all gateways, or in the process of one. */
  holder: 'redis' | 'process';
  /** The total ever granted to the allotment, as far as its holder knows. */
  seen: number;
  /** Calls needed beyond what the allotment holds. */
  calls: number;
  /** How many may be granted at once, including `calls`, if that is a small part of the remaining quota. */
  ahead: number;
}

export interface ToppedUpRow {
  account_id: string;
  /** The total ever granted to the allotment. */
  granted: number;
  /** Calls charged to the month outside the allotment. */
  elsewhere: number;
  limit: number | null;
  /** Replaced by another allotment, or reclaimed: it must no longer be drawn from. */
  closed: boolean;
  /** Other gateways hold calls of the month in their processes, unused or under way. They may return some. */
  held: boolean;
}

/** A top-up grants up to this fraction (1/n) of the remaining quota: few requests, and little is lost with an allotment. */
const partOfRest = 50;

/**
 * Charges the months with the top-ups of the allotments: the lacking calls, or a part of the remaining quota if that is more.
 * An allotment topped up since its holder looked is not topped up again. A new one in Redis closes all others there of the month.
 * @param now null: PostgreSQL's clock, which also decides when calls are given back.
 * @returns a row for each account that is active and has a row for the month.
 */
export function topUpAllotments(
  db: AccountsDatabase,
  topUps: readonly TopUp[],
  allowances: readonly Allowance[],
  now: Date | null,
): Promise<ToppedUpRow[]> {
  return db.sequelize.query(
    `with asked as (
       select * from json_to_recordset($1::json)
         as asked(account_id text, month date, allotment_id text, holder text, seen bigint, calls bigint, ahead bigint)
     ), plan as (
       select * from json_to_recordset($2::json) as plan(id text, calls_month bigint)
     ), locked as materialized (
       select account_id, month, quota.used, allotment_id, holder, seen, calls, ahead
       from accounts.quota_months as quota join asked using (account_id, month)
       order by account_id, month
       for no key update of quota
     ), allotment as materialized (
       select account_id, month, allotment_id, allotment.granted + returned as granted, closed_at
       from locked join accounts.quota_allotments as allotment using (account_id, month, allotment_id)
       for no key update of allotment
     ), wanted as materialized (
       select locked.*, plan.calls_month, allotment.closed_at is not null as closed,
              locked.calls - (coalesce(allotment.granted, 0) - locked.seen) as lacking,
              case when plan.calls_month is null then 1e15::bigint
                   else greatest(plan.calls_month - locked.used, 0) end as rest
       from locked left join allotment using (account_id, month, allotment_id)
       join accounts.accounts as account on account.id = account_id and account.status = 'active'
       join plan on plan.id = case when account.plan in (select id from plan) then account.plan else 'free' end
     ), grants as materialized (
       select *, case when closed or lacking <= 0 then 0
                      else least(rest, greatest(lacking, least(rest / ${partOfRest}, ahead))) end as added
       from wanted
     ), charged as (
       update accounts.quota_months as quota set used = quota.used + grants.added
       from grants
       where quota.account_id = grants.account_id and quota.month = grants.month and grants.added > 0
     ), others as (
       update accounts.quota_allotments as other set closed_at = coalesce($3::timestamptz, clock_timestamp())
       from grants
       where other.account_id = grants.account_id and other.month = grants.month
         and other.holder = 'redis' and grants.holder = 'redis'
         and other.allotment_id <> grants.allotment_id and other.closed_at is null and not grants.closed
     ), filled as (
       insert into accounts.quota_allotments as allotment (account_id, month, allotment_id, holder, granted, seen_at)
       select account_id, month, allotment_id, holder, added, coalesce($3::timestamptz, clock_timestamp()) from grants
       on conflict (account_id, month, allotment_id) do update
         set granted = allotment.granted + excluded.granted, seen_at = excluded.seen_at
       returning account_id, granted, granted + returned as granted_ever
     )
     select grants.account_id, filled.granted_ever::float8 as granted, grants.closed, calls_month::float8 as "limit",
            (grants.used + grants.added - filled.granted)::float8 as elsewhere,
            exists (select from accounts.quota_allotments as other
                    where other.account_id = grants.account_id and other.month = grants.month
                      and other.holder = 'process' and other.allotment_id <> grants.allotment_id
                      and other.closed_at is null and other.granted > other.spent) as held
     from grants join filled using (account_id)`,
    {
      bind: [JSON.stringify(topUps), JSON.stringify(allowances), now],
      type: QueryTypes.SELECT,
    },
  );
}

/**
 * Extends the leases of gateways on the allotments in their processes. @returns the ids of those that are open: calls of the others
 * may have been granted again.
 */
export async function renewAllotments(
  db: AccountsDatabase,
  allotments: readonly { account_id: string; month: string; allotment_id: string }[],
  now: Date | null,
): Promise<string[]> {
  const rows = await db.sequelize.query<{ allotment_id: string }>(
    `with asked as (
       select * from json_to_recordset($1::json) as asked(account_id text, month date, allotment_id text)
     ), locked as materialized (
       select account_id, month from accounts.quota_months
       where (account_id, month) in (select account_id, month from asked)
       order by account_id, month
       for no key update
     )
     update accounts.quota_allotments as allotment set seen_at = coalesce($2::timestamptz, clock_timestamp())
     from locked join asked using (account_id, month)
     where allotment.account_id = locked.account_id and allotment.month = locked.month
       and allotment.allotment_id = asked.allotment_id and allotment.closed_at is null
     returning allotment.allotment_id`,
    { bind: [JSON.stringify(allotments), now], type: QueryTypes.SELECT },
  );
  return rows.map(({ allotment_id }) => allotment_id);
}

export interface Spent {
  account_id: string;
  /** `YYYY-MM-01` */
  month: string;
  allotment_id: string;
  /** Calls of the allotment that were served since the last report. */
  calls: number;
  /** Calls that its gateway gives up unused. */
  returned: number;
}

/**
 * Adds served calls to their allotments, and refunds returned ones to the month. Calls that are reported after their allotment was
 * reclaimed are charged now.
 */
export async function addSpent(
  db: AccountsDatabase,
  transaction: Transaction,
  spent: readonly Spent[],
): Promise<void> {
  await db.sequelize.query(
    `with told as (
       select account_id, month, allotment_id, sum(calls) as calls, sum(returned) as returned
       from json_to_recordset($1::json) as told(account_id text, month date, allotment_id text, calls bigint, returned bigint)
       group by account_id, month, allotment_id
     ), locked as materialized (
       select account_id, month from accounts.quota_months as quota
       where (account_id, month) in (select account_id, month from told)
       order by account_id, month
       for no key update
     ), allotment as materialized (
       select account_id, month, allotment_id, allotment.granted, allotment.spent + told.calls as spent,
              case when reclaimed_at is null
                   then least(told.returned, greatest(allotment.granted - allotment.spent - told.calls, 0)) else 0 end as back
       from locked join accounts.quota_allotments as allotment using (account_id, month)
            join told using (account_id, month, allotment_id)
       for no key update of allotment
     ), difference as (
       select account_id, month, sum(greatest(granted - back, spent) - granted) as calls
       from allotment group by account_id, month
     ), charged as (
       update accounts.quota_months as quota set used = greatest(quota.used + difference.calls, 0)
       from difference where quota.account_id = difference.account_id and quota.month = difference.month
     )
     update accounts.quota_allotments as changed
     set spent = told.spent, granted = greatest(told.granted - told.back, told.spent), returned = changed.returned + told.back
     from allotment as told
     where changed.account_id = told.account_id and changed.month = told.month and changed.allotment_id = told.allotment_id`,
    { bind: [JSON.stringify(spent)], type: QueryTypes.RAW, transaction },
  );
}

/**
 * Refunds the unspent calls of allotments that were closed that long ago, and of those in processes whose gateway was not seen for that
 * long. Months that another transaction has locked are left for the next run.
 * @returns the number of allotments.
 */
export async function reclaimAllotments(
  db: AccountsDatabase,
  afterMs: number,
  now: Date | null,
): Promise<number> {
  const rows = await db.sequelize.query(
    `with moment as materialized (
       select now, now - $1 * interval '1 ms' as before
       from (select coalesce($2::timestamptz, clock_timestamp()) as now) as present
     ), closed as materialized (
       select account_id, month, allotment_id from accounts.quota_allotments
       where reclaimed_at is null
         and (closed_at < (select before from moment)
              or (holder = 'process' and granted > spent and seen_at < (select before from moment)))
       limit 500
     ), locked as materialized (
       select account_id, month from accounts.quota_months
       where (account_id, month) in (select account_id, month from closed)
       order by account_id, month
       for no key update skip locked
     ), allotment as materialized (
       select account_id, month, allotment_id, allotment.granted - allotment.spent as calls
       from locked join accounts.quota_allotments as allotment using (account_id, month)
            join closed using (account_id, month, allotment_id)
       where allotment.reclaimed_at is null
         and (allotment.closed_at < (select before from moment)
              or (holder = 'process' and allotment.seen_at < (select before from moment))) -- it may have been renewed meanwhile
       for no key update of allotment
     ), back as (
       select account_id, month, sum(calls) as calls from allotment group by account_id, month
     ), given as (
       update accounts.quota_months as quota set used = greatest(quota.used - back.calls, 0)
       from back where quota.account_id = back.account_id and quota.month = back.month
     )
     update accounts.quota_allotments as reclaimed
     set granted = reclaimed.spent, reclaimed_at = moment.now, closed_at = coalesce(closed_at, moment.now)
     from allotment, moment
     where reclaimed.account_id = allotment.account_id and reclaimed.month = allotment.month
       and reclaimed.allotment_id = allotment.allotment_id
     returning true`,
    { bind: [afterMs, now], type: QueryTypes.SELECT },
  );
  return rows.length;
}
