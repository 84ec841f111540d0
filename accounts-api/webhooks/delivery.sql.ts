// The statements of the worker: which messages it may send now, and what became of them.
import { QueryTypes, type Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import { entitledBinds, entitledSql, type PlansWithWebhooks } from './fan-out.sql.ts';
import type { Health } from './health.ts';

/** Messages under way to one endpoint at once, by all workers together. One that fails has one. */
export const concurrencyOfWebhook = 4;

const underWay = `(select count(*) from accounts.webhook_messages as claimed
  where claimed.webhook_id = webhook.id and claimed.claimed_until > $1)`;
const allowed = `case when webhook.failing_since is null then ${concurrencyOfWebhook} else 1 end`;

/**
 * Whether the transaction may be answered before it is on disk. For claims and results, of which a crash of PostgreSQL may lose the
 * last few: their messages are then sent again. It saves a write to the disk for each.
 */
export async function commitAtLeisure(
  db: AccountsDatabase,
  transaction: Transaction,
  isAllowed: boolean,
): Promise<void> {
  const text = `set local synchronous_commit to ${isAllowed ? 'off' : 'on'}`;
  await db.sequelize.query(text, { type: QueryTypes.RAW, transaction });
}

export interface Turn {
  now: Date;
  plans: PlansWithWebhooks;
  /** Endpoints with higher ids come first: the last one of the turn before. */
  after: string;
  /** Whether those are included whose last attempt failed. */
  failing: boolean;
  endpointsMax: number;
}

/**
 * Locks endpoints that have something to send and may be sent more, in turn. Of those with messages one row of the index is read for
 * each, however many messages it has. @returns their ids, in their order.
 */
export async function lockDueWebhooks(
  db: AccountsDatabase,
  transaction: Transaction,
  { now, plans, after, failing, endpointsMax }: Turn,
): Promise<string[]> {
  const rows = await db.sequelize.query<{ id: string }>(
    `with recursive waiting(webhook_id) as (
       (select webhook_id from accounts.webhook_messages where due_at is not null order by webhook_id limit 1)
       union all
       select (select webhook_id from accounts.webhook_messages
               where due_at is not null and webhook_id > waiting.webhook_id order by webhook_id limit 1)
       from waiting where waiting.webhook_id is not null
     )
     select webhook.id
     from accounts.webhooks as webhook join accounts.accounts as account on account.id = webhook.account_id
     where webhook.id in (select webhook_id from waiting) and webhook.disabled_at is null
       and (webhook.throttled_until is null or webhook.throttled_until <= $1) and (webhook.failing_since is null or $2)
       and ${entitledSql(5)}
       and exists (select from accounts.webhook_messages as message
                   where message.webhook_id = webhook.id and message.due_at <= $1)
       and ${underWay} < ${allowed}
     order by webhook.id > $3 desc, webhook.id
     limit $4 for no key update of webhook skip locked`,
    {
      bind: [now, failing, after, endpointsMax, ...entitledBinds(plans)],
      type: QueryTypes.SELECT,
      transaction,
    },
  );
  return rows.map(({ id }) => id);
}

/** A message that may be sent now. */
export interface Claimed {
  id: string;
  webhook_id: string;
  /** The number of this attempt. */
  attempt: number;
  failures: number;
  body: string;
  url: string;
  secret: string;
  previous_secret: string | null;
  previous_secret_until: Date | null;
  is_failing: boolean;
}

/**
 * Claims the messages to the locked endpoints that are due first, as many as each may be sent.
 * @param until when the claim ends: then an attempt without a result is made again.
 */
export async function claimMessages(
  db: AccountsDatabase,
  transaction: Transaction,
  { webhookIds, now, until }: { webhookIds: readonly string[]; now: Date; until: Date },
): Promise<Claimed[]> {
  return db.sequelize.query<Claimed>(
    `with room as (
       select webhook.id, greatest(${allowed} - ${underWay}, 0) as free from accounts.webhooks as webhook
       where webhook.id = any($3::text[])
     ), chosen as (
       select message.id from room cross join lateral (
         select due.id from accounts.webhook_messages as due
         where due.webhook_id = room.id and due.due_at <= $1 and (due.claimed_until is null or due.claimed_until <= $1)
         order by due.due_at limit room.free for update skip locked
       ) as message
     )
     update accounts.webhook_messages as message
     set claimed_until = $2, due_at = $2, attempts = message.attempts + 1
     from chosen, accounts.webhooks as webhook, accounts.webhook_events as event
     where message.id = chosen.id and webhook.id = message.webhook_id and event.id = message.event_id
     returning message.id, message.webhook_id, message.attempts as attempt, message.failures,
       coalesce(message.body, event.body) as body, webhook.url, webhook.secret, webhook.previous_secret,
       webhook.previous_secret_until, webhook.failing_since is not null as is_failing`,
    { bind: [now, until, webhookIds], type: QueryTypes.SELECT, transaction },
  );
}

export interface EndpointState {
  id: string;
  accountId: string;
  url: string;
  isDisabled: boolean;
  health: Health;
}

/**
 * Locks endpoints, in the order that all who lock several use. Before their messages, as a deletion does.
 * @returns those that are still there.
 */
export async function lockWebhooks(
  db: AccountsDatabase,
  transaction: Transaction,
  ids: readonly string[],
): Promise<EndpointState[]> {
  const rows = await db.sequelize.query<{
    id: string;
    account_id: string;
    url: string;
    disabled_at: Date | null;
    failing_since: Date | null;
    last_failed_at: Date | null;
    throttled_until: Date | null;
  }>(
    `select id, account_id, url, disabled_at, failing_since, last_failed_at, throttled_until
     from accounts.webhooks where id = any($1::text[]) order by id for no key update`,
    { bind: [ids], type: QueryTypes.SELECT, transaction },
  );
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    url: row.url,
    isDisabled: row.disabled_at !== null,
    health: {
      failingSince: row.failing_since,
      lastFailedAt: row.last_failed_at,
      throttledUntil: row.throttled_until,
    },
  }));
}

/** What became of an attempt. */
export interface Ended {
  message: string;
  attempt: number;
  at: Date;
  latency_ms: number;
  http_status: number | null;
  error: string | null;
  response: string | null;
  status: 'pending' | 'delivered' | 'failed';
  due_at: Date | null;
  failures: number;
}

/**
 * Records attempts, and what becomes of their messages. A failure changes nothing of a message that was claimed again since, or was
 * taken; a success ends it in any case. Messages that were deleted are left out.
 */
export async function recordAttempts(
  db: AccountsDatabase,
  transaction: Transaction,
  ended: readonly Ended[],
): Promise<void> {
  await db.sequelize.query(
    `with ended as (
       select * from json_to_recordset($1::json) as ended(message text, attempt int, at timestamptz, latency_ms int,
         http_status smallint, error text, response text, status text, due_at timestamptz, failures smallint)
     ), held as materialized (
       select message.id from accounts.webhook_messages as message
       where message.id in (select message from ended) order by message.id for update
     ), logged as (
       insert into accounts.webhook_attempts (message_id, attempt, at, latency_ms, status, error, response)
       select message, attempt, at, latency_ms, http_status, error, response
       from ended join held on held.id = ended.message
       on conflict do nothing
     )
     update accounts.webhook_messages as message
     set status = ended.status, due_at = ended.due_at, failures = ended.failures, claimed_until = null
     from ended join held on held.id = ended.message
     where message.id = ended.message
       and (ended.status = 'delivered' or (message.status = 'pending' and message.attempts = ended.attempt))`,
    { bind: [JSON.stringify(ended)], type: QueryTypes.RAW, transaction },
  );
}

/** Gives claims back without an attempt: the messages are due again at another time. */
export async function releaseMessages(
  db: AccountsDatabase,
  ids: readonly string[],
  dueAt: Date,
): Promise<void> {
  await db.sequelize.query(
    `update accounts.webhook_messages set due_at = $2, claimed_until = null
     where id = any($1::text[]) and status = 'pending'`,
    { bind: [ids, dueAt], type: QueryTypes.RAW },
  );
}

/** Writes what became of endpoints. */
export async function updateHealth(
  db: AccountsDatabase,
  transaction: Transaction,
  states: readonly (Health & { id: string; disabledAt: Date | null; because: string | null })[],
): Promise<void> {
  const rows = states.map((state) => ({
    id: state.id,
    failing_since: state.failingSince,
    last_failed_at: state.lastFailedAt,
    throttled_until: state.throttledUntil,
    disabled_at: state.disabledAt,
    because: state.because,
  }));
  await db.sequelize.query(
    `update accounts.webhooks as webhook
     set failing_since = state.failing_since, last_failed_at = state.last_failed_at,
         throttled_until = state.throttled_until,
         disabled_at = coalesce(webhook.disabled_at, state.disabled_at),
         disabled_because = coalesce(webhook.disabled_because, state.because)
     from json_to_recordset($1::json) as state(id text, failing_since timestamptz, last_failed_at timestamptz,
       throttled_until timestamptz, disabled_at timestamptz, because text)
     where webhook.id = state.id`,
    { bind: [JSON.stringify(rows)], type: QueryTypes.RAW, transaction },
  );
}

/** Deletes some events that are older than so many days, with their messages. @returns how many. */
export async function pruneEvents(
  db: AccountsDatabase,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const rows = await db.sequelize.query<{ n: number }>(
    `with old as (
       delete from accounts.webhook_events where id in (
         select id from accounts.webhook_events where at < $1 order by at limit $2)
       returning true)
     select count(*)::int as n from old`,
    { bind: [before, limit], type: QueryTypes.SELECT },
  );
  return rows[0]?.n ?? 0;
}

export interface Backlog {
  /** Events that are not messages yet. */
  outbox: number;
  /** How old the oldest of them is, in seconds; 0 if there is none. */
  outboxSeconds: number;
  /** Messages that wait, those between two attempts included, of endpoints that are enabled. */
  pending: number;
  /** How long the one that has been due for longest has been due, in seconds; 0 if none is due. */
  overdueSeconds: number;
}

/** What waits. Messages of disabled and throttled endpoints, and of accounts that are sent nothing, are left out. */
export async function selectBacklog(
  db: AccountsDatabase,
  { now, plans }: { now: Date; plans: PlansWithWebhooks },
): Promise<Backlog> {
  const rows = await db.sequelize.query<{
    outbox: number;
    outbox_age: number | null;
    pending: number;
    overdue: number | null;
  }>(
    `select (select count(*)::int from events.outbox) as outbox,
            (select greatest(extract(epoch from $1::timestamptz - min(at)), 0)::float8 from events.outbox) as outbox_age,
            coalesce(sum(waiting.pending), 0)::int as pending,
            greatest(extract(epoch from $1::timestamptz - min(waiting.due_at)), 0)::float8 as overdue
     from accounts.webhooks as webhook join accounts.accounts as account on account.id = webhook.account_id
     cross join lateral (
       select count(*) as pending, min(due_at) as due_at from accounts.webhook_messages
       where webhook_id = webhook.id and due_at is not null
     ) as waiting
     where webhook.disabled_at is null and (webhook.throttled_until is null or webhook.throttled_until <= $1)
       and ${entitledSql(2)}`,
    { bind: [now, ...entitledBinds(plans)], type: QueryTypes.SELECT },
  );
  const [row] = rows;
  return {
    outbox: row?.outbox ?? 0,
    outboxSeconds: row?.outbox_age ?? 0,
    pending: row?.pending ?? 0,
    overdueSeconds: row?.overdue ?? 0,
  };
}
