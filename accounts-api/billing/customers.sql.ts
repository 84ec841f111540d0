// The statements for customers and their subscriptions. A customer is fetched by one process at a time: the fetch has a lease and a number that only
// rises, so that a late fetch never overwrites the result of a newer one.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { FetchedSubscription } from './fetched.ts';
import type { Subscription } from './subscription-status.ts';

/** A fetch that has begun. */
export interface Lease {
  customerId: string;
  leaseNo: number;
  /** How often a fetch had been requested. */
  asked: number;
  /** The newest waiting event when the fetch began. */
  eventNo: number;
  failures: number;
}

/**
 * Begins the fetches of due customers, limited in number, the longest due first. A fetch whose lease ends first counts as failed, and each failure in a
 * row doubles the next lease, up to sixteen times: Stripe may be slower than the first one.
 */
export function leaseDueCustomers(
  db: AccountsDatabase,
  { now, leasedUntil, most }: { now: Date; leasedUntil: Date; most: number },
): Promise<Lease[]> {
  return db.read(
    `update accounts.billing_customers as customer
     set lease_no = lease_no + 1, failures = failures + (leased_until is not null)::int,
         leased_until = $1::timestamptz
           + ($2::timestamptz - $1) * power(2, least(failures + (leased_until is not null)::int, 4))
     where id in (select id from accounts.billing_customers
                  where due_at <= $1 and (leased_until is null or leased_until <= $1)
                  order by due_at, id limit $3 for no key update skip locked)
     returning id as "customerId", lease_no::float8 as "leaseNo", asked::float8 as asked, failures,
               (select coalesce(max(event_no), 0)::float8 from accounts.stripe_events
                where customer_id = customer.id and handled_at is null) as "eventNo"`,
    { bind: [now, leasedUntil, most] },
  );
}

/** Locks a customer whose fetch may still write. @returns its stored state, or undefined if another fetch has begun since. */
export async function lockLeasedCustomer(
  db: AccountsDatabase,
  transaction: Transaction,
  { customerId, leaseNo }: Lease,
): Promise<{ accountId: string | null; isParked: boolean } | undefined> {
  const [row] = await db.read<{ accountId: string | null; isParked: boolean }>(
    `select account_id as "accountId", parked_at is not null as "isParked" from accounts.billing_customers where id = $1 and lease_no = $2 for update`,
    { bind: [customerId, leaseNo], transaction },
  );
  return row;
}

/** Ends a fetch. If another was requested meanwhile, the customer is due at once. */
export async function endLease(
  db: AccountsDatabase,
  transaction: Transaction,
  { customerId, leaseNo, asked }: Lease,
  result: { now: Date; dueAt: Date | null; accountId: string | null; isParked: boolean; isDeleted: boolean },
): Promise<void> {
  const { now, dueAt, accountId, isParked, isDeleted } = result;
  await db.sequelize.query(
    `update accounts.billing_customers
     set due_at = case when asked = $3 then $5 else $4::timestamptz end, leased_until = null, failures = 0,
         last_error = null, synced_at = $4, account_id = $6,
         parked_at = case when $7 then coalesce(parked_at, $4) end,
         deleted_at = case when $8 then coalesce(deleted_at, $4) end
     where id = $1 and lease_no = $2`,
    {
      bind: [customerId, leaseNo, asked, now, dueAt, accountId, isParked, isDeleted],
      transaction,
    },
  );
}

/** Ends a failed fetch; it is retried at `dueAt`, or with the next event: at once if one was requested meanwhile. */
export async function endFailedLease(
  db: AccountsDatabase,
  { customerId, leaseNo, asked }: Lease,
  { dueAt, error }: { dueAt: Date; error: string },
): Promise<void> {
  await db.sequelize.query(
    `update accounts.billing_customers
     set due_at = case when asked = $5 then $3 else least(due_at, $3) end, leased_until = null, failures = failures + 1, last_error = $4
     where id = $1 and lease_no = $2`,
    { bind: [customerId, leaseNo, dueAt, error.slice(0, 500), asked] },
  );
}

/** Assigns a customer that we have created at Stripe to the account. @returns false if the account was closed meanwhile. */
export async function insertCustomerOf(
  db: AccountsDatabase,
  customerId: string,
  accountId: string,
  now: Date,
): Promise<boolean> {
  return db.hasRow(
    `insert into accounts.billing_customers (id, account_id, created_at)
     select $1, id, $3 from accounts.accounts where id = $2 for key share
     on conflict (id) do update set account_id = excluded.account_id, parked_at = null returning true`,
    { bind: [customerId, accountId, now] },
  );
}

/** The customers of an account that still exist at Stripe: the one of its current subscription first, then the oldest. */
export async function selectCustomersOf(db: AccountsDatabase, accountId: string): Promise<string[]> {
  const rows = await db.read<{ id: string }>(
    `select customer.id from accounts.billing_customers as customer
     where account_id = $1 and deleted_at is null
     order by (select min(array_position(
                 array['active', 'trialing', 'past_due', 'unpaid', 'paused', 'incomplete'], status))
               from accounts.subscriptions where customer_id = customer.id) nulls last, created_at, id`,
    { bind: [accountId] },
  );
  return rows.map(({ id }) => id);
}

/** Records that a customer no longer exists at Stripe. */
export async function noteDeleted(db: AccountsDatabase, customerId: string, now: Date): Promise<void> {
  await db.sequelize.query(
    'update accounts.billing_customers set deleted_at = coalesce(deleted_at, $2) where id = $1',
    { bind: [customerId, now] },
  );
}

/** The number of an account's customers that no longer exist at Stripe. */
export async function countDeletedCustomersOf(db: AccountsDatabase, accountId: string): Promise<number> {
  const [row] = await db.read<{ count: number }>(
    'select count(*)::int as count from accounts.billing_customers where account_id = $1 and deleted_at is not null',
    { bind: [accountId] },
  );
  return row?.count ?? 0;
}

/** A subscription with its stored state. */
export interface StoredSubscription extends Subscription {
  customerId: string;
  accountId: string;
  /** The failed attempts to pay the latest invoice that were reported. */
  failuresReported: number;
  cancelAskedAt: Date | null;
}

/** The subscriptions of accounts, as last fetched. */
export function selectSubscriptions(
  db: AccountsDatabase,
  accountIds: readonly string[],
  transaction: Transaction | null = null,
): Promise<StoredSubscription[]> {
  return db.read(
    `select subscription.id, customer_id as "customerId", account_id as "accountId", status, price_id as "priceId",
            plan, subscription.created_at as "createdAt", current_period_end as "currentPeriodEnd",
            cancels_at as "cancelsAt", grace_ends_at as "graceEndsAt", invoice,
            failures_reported as "failuresReported", cancel_asked_at as "cancelAskedAt"
     from accounts.subscriptions as subscription
     join accounts.billing_customers as customer on customer.id = subscription.customer_id
     where account_id = any($1::text[])`,
    { bind: [accountIds], transaction },
  );
}

/**
 * Replaces the subscriptions of a customer with those fetched. If a plan's price has been moved or archived since, a subscription with that price
 * keeps its plan: the payer of an old price is still served. Subscriptions to other products are not stored: they do not affect the account and must
 * not be cancelled here.
 */
export async function replaceSubscriptions(
  db: AccountsDatabase,
  transaction: Transaction,
  customerId: string,
  fetched: readonly FetchedSubscription[],
): Promise<void> {
  await db.sequelize.query(
    `with fetched as (
       select * from json_to_recordset($2::json) as fetched(
         id text, status text, "priceId" text, plan text, "isOurs" boolean, "createdAt" timestamptz, "currentPeriodEnd" timestamptz,
         "cancelsAt" timestamptz, "graceEndsAt" timestamptz, invoice jsonb)
     ), gone as (
       delete from accounts.subscriptions
       where customer_id = $1 and id not in (select id from fetched)
     )
     insert into accounts.subscriptions as stored
       (id, customer_id, status, price_id, plan, created_at, current_period_end, cancels_at, grace_ends_at, invoice)
     select id, $1, status, "priceId", plan, "createdAt", "currentPeriodEnd", "cancelsAt", "graceEndsAt",
            nullif(invoice, 'null'::jsonb)
     from fetched
     where "isOurs" or exists (select from accounts.subscriptions as known where known.id = fetched.id)
     on conflict (id) do update set
       customer_id = excluded.customer_id, status = excluded.status, price_id = excluded.price_id,
       plan = case when excluded.plan is null and stored.price_id = excluded.price_id
                   then stored.plan else excluded.plan end,
       created_at = excluded.created_at, current_period_end = excluded.current_period_end,
       cancels_at = excluded.cancels_at, grace_ends_at = excluded.grace_ends_at, invoice = excluded.invoice,
       failures_reported = case when stored.invoice ->> 'id' = excluded.invoice ->> 'id' then stored.failures_reported else 0 end`,
    { bind: [customerId, JSON.stringify(fetched)], transaction },
  );
}

/** Records how many failed attempts to pay a subscription's latest invoice were reported. */
export async function noteFailuresReported(
  db: AccountsDatabase,
  transaction: Transaction,
  subscriptionId: string,
  attempts: number,
): Promise<void> {
  await db.sequelize.query('update accounts.subscriptions set failures_reported = $2 where id = $1', {
    bind: [subscriptionId, attempts],
    transaction,
  });
}

/** Records that a subscription is to be cancelled because its account has another one. */
export async function noteCancelAsked(
  db: AccountsDatabase,
  transaction: Transaction,
  subscriptionId: string,
  now: Date,
): Promise<void> {
  await db.sequelize.query('update accounts.subscriptions set cancel_asked_at = $2 where id = $1', {
    bind: [subscriptionId, now],
    transaction,
  });
}

/** Served accounts with a subscription whose grace has ended. Another subscription may be the reason why they are served. */
export async function selectGraceEnded(db: AccountsDatabase, now: Date): Promise<string[]> {
  const rows = await db.read<{ id: string }>(
    `select distinct account.id
     from accounts.subscriptions as subscription
     join accounts.billing_customers as customer on customer.id = subscription.customer_id
     join accounts.accounts as account on account.id = customer.account_id
     where grace_ends_at <= $1 and account.subscription_state = 'active'
     order by account.id`,
    { bind: [now] },
  );
  return rows.map(({ id }) => id);
}
