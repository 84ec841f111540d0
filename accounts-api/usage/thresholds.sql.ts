// The statements for usage thresholds: the calls served for an account this month, and the parts of its limit that it has reached.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { UsageRow } from '../../kernel/heartbeat/message.ts';
import type { Allowance } from './allowances.ts';

interface Served {
  usage: readonly UsageRow[];
  allowances: readonly Allowance[];
  /** The parts of the limit that are stored. */
  percents: readonly number[];
  now: Date;
}

/**
 * Adds billed calls to their months, which must be locked (`lockMonths`), and stores each part of the limit that an account reaches by them, once.
 * @returns these parts.
 */
export function countServed(
  db: AccountsDatabase,
  transaction: Transaction,
  { usage, allowances, percents, now }: Served,
): Promise<Threshold[]> {
  return db.read(
    `with added as (
       select account_id, date_trunc('month', day::timestamp)::date as month, sum(billed) as billed
       from json_to_recordset($1::json) as entry(account_id text, day date, billed bigint)
       group by 1, 2
     ), plan as (
       select * from json_to_recordset($2::json) as plan(id text, calls_month bigint)
     ), locked as materialized (
       select account_id, month, quota.served + added.billed as served
       from accounts.quota_months as quota join added using (account_id, month)
       where added.billed > 0
       order by account_id, month
       for no key update of quota
     ), counted as (
       update accounts.quota_months as quota set served = locked.served
       from locked where quota.account_id = locked.account_id and quota.month = locked.month
     )
     insert into accounts.usage_thresholds (account_id, month, calls_month, percent, served, reached_at)
     select locked.account_id, locked.month, plan.calls_month, threshold.percent, locked.served, $3
     from locked
     join accounts.accounts as account on account.id = locked.account_id
     join plan on plan.id = case when account.plan in (select id from plan) then account.plan else 'free' end
     cross join unnest($4::integer[]) as threshold (percent)
     where locked.served * 100 >= plan.calls_month * threshold.percent
     on conflict do nothing
     returning account_id, month::text, calls_month::float8 as calls_month, percent`,
    { bind: [JSON.stringify(usage), JSON.stringify(allowances), now, percents], transaction },
  );
}

export interface Threshold {
  account_id: string;
  /** `YYYY-MM-01` */
  month: string;
  /** The limit. */
  calls_month: number;
  percent: number;
}

/** Marks parts of limits as mailed. @returns the newly marked ones, only the highest per account and limit. */
export function noteMailed(db: AccountsDatabase, transaction: Transaction, now: Date): Promise<Threshold[]> {
  return db.read(
    `with noted as (
       update accounts.usage_thresholds set mailed_at = $1
       where (account_id, month, calls_month, percent) in (
         select account_id, month, calls_month, percent from accounts.usage_thresholds
         where mailed_at is null
         order by reached_at limit 1000 for no key update skip locked)
       returning account_id, month, calls_month, percent
     )
     select account_id, month::text, calls_month::float8 as calls_month, max(percent)::int as percent
     from noted group by account_id, month, noted.calls_month order by account_id, month`,
    { bind: [now], transaction },
  );
}
