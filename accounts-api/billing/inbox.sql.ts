// The statements of the inbox: received events, and the customers to fetch because of them.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

export interface NewStripeEvent {
  id: string;
  type: string;
  /** Null: the event concerns no customer, and needs no work. */
  customerId: string | null;
  createdAt: Date;
  receivedAt: Date;
}

/** Stores an event. @returns false if it was stored before. */
export async function insertStripeEvent(
  db: AccountsDatabase,
  transaction: Transaction,
  { id, type, customerId, createdAt, receivedAt }: NewStripeEvent,
): Promise<boolean> {
  return db.hasRow(
    `insert into accounts.stripe_events (id, type, customer_id, created_at, received_at, handled_at)
     values ($1, $2, $3, $4, $5, case when $3::text is null then $5::timestamptz end)
     on conflict (id) do nothing returning true`,
    { bind: [id, type, customerId, createdAt, receivedAt], transaction },
  );
}

/** Requests an immediate fetch of a customer. An unknown customer gets a row. */
export async function askForCustomer(
  db: AccountsDatabase,
  transaction: Transaction | null,
  customerId: string,
  now: Date,
): Promise<void> {
  await db.sequelize.query(
    `insert into accounts.billing_customers as customer (id, created_at, due_at, asked) values ($1, $2, $2, 1)
     on conflict (id) do update set asked = customer.asked + 1, due_at = least(customer.due_at, excluded.due_at)`,
    { bind: [customerId, now], transaction },
  );
}

/** Marks the events of a customer as handled. @param upTo the newest event stored before the fetch began. */
export async function markHandled(
  db: AccountsDatabase,
  transaction: Transaction,
  { customerId, upTo, now }: { customerId: string; upTo: number; now: Date },
): Promise<void> {
  await db.sequelize.query(
    `update accounts.stripe_events set handled_at = $3
     where customer_id = $1 and event_no <= $2 and handled_at is null`,
    { bind: [customerId, upTo, now], transaction },
  );
}

export interface InboxFigures {
  /** Events that wait for a fetch. */
  waiting: number;
  /** Events of the last 30 days with an unknown shape. */
  unread: number;
  /** Paying customers without an account. */
  parked: number;
  /** Customers whose last fetch failed. */
  failing: number;
  /** Live subscriptions whose price belongs to no plan, or whose status is unknown. */
  odd: number;
  /** Recently cancelled second subscriptions whose latest invoice was paid. */
  duplicates: number;
  /** When the newest event arrived; null without events. */
  lastAt: Date | null;
  /** When the oldest waiting event arrived. */
  oldestWaitingAt: Date | null;
}

/**
 * The figures of the inbox. @param known the Stripe statuses that are understood. @param live those that are paid for. @param since the start of the
 * recent period.
 */
export async function selectInboxFigures(
  db: AccountsDatabase,
  { known, live, since }: { known: readonly string[]; live: readonly string[]; since: Date },
): Promise<InboxFigures> {
  const [figures] = await db.read<InboxFigures>(
    `select (select count(*)::int from accounts.stripe_events where handled_at is null) as waiting,
            (select count(*)::int from accounts.stripe_events where type = 'unread') as unread,
            (select count(*)::int from accounts.billing_customers where parked_at is not null) as parked,
            (select count(*)::int from accounts.billing_customers where failures > 0) as failing,
            (select count(*)::int from accounts.subscriptions
             where status <> all($1::text[]) or (plan is null and status = any($2::text[]))) as odd,
            (select count(*)::int from accounts.subscriptions
             where cancel_asked_at > $3 and invoice ->> 'status' = 'paid'
               and (invoice ->> 'amount_due')::bigint > 0) as duplicates,
            (select max(received_at) from accounts.stripe_events) as "lastAt",
            (select min(received_at) from accounts.stripe_events where handled_at is null) as "oldestWaitingAt"`,
    { bind: [known, live, since] },
  );
  if (figures === undefined) throw new Error('PostgreSQL gave no figures.');
  return figures;
}
