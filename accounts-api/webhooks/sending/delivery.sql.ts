// The worker's statements: leases of endpoints, due messages, and results.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../../database.ts';
import { entitledBinds, entitledSql, type PlansWithWebhooks } from './entitled.sql.ts';
import type { Health } from './health.ts';

/**
 * Allows or forbids asynchronous commit for the transaction. It is allowed for leases and results: a crash of PostgreSQL may lose the last few, whose
 * messages are then sent again. It saves a disk write for each.
 */
export async function allowAsyncCommit(
  db: AccountsDatabase,
  transaction: Transaction,
  isAllowed: boolean,
): Promise<void> {
  const text = `set local synchronous_commit to ${isAllowed ? 'off' : 'on'}`;
  await db.sequelize.query(text, { transaction });
}

/** An endpoint that this worker may send to. */
export interface LeasedWebhook {
  id: string;
  url: string;
  secret: string;
  /** Messages are also signed with this secret; null once the overlap has ended. */
  previous_secret: string | null;
  is_failing: boolean;
}

/** A worker, and when its leases end. */
export interface LeaseOwner {
  sender: string;
  now: Date;
  until: Date;
  plans: PlansWithWebhooks;
}

const leasedColumns = `webhook.id, webhook.url, webhook.secret,
  case when webhook.previous_secret_until > $1 then webhook.previous_secret end as previous_secret,
  webhook.failing_since is not null as is_failing`;
const isOpen = `webhook.disabled_at is null and (webhook.throttled_until is null or webhook.throttled_until <= $1)`;

/**
 * Leases endpoints that have something to send, in turn, and that no other worker has leased. For each endpoint with messages only one index row is
 * read, however many messages it has.
 * @param leased the endpoints that the worker already has. @param after endpoints with higher ids come first: the last one of the previous
 * turn. @param failing whether to include endpoints whose last attempt failed.
 */
export async function leaseWebhooks(
  db: AccountsDatabase,
  transaction: Transaction,
  { sender, now, until, plans }: LeaseOwner,
  {
    leased,
    after,
    failing,
    most,
  }: { leased: readonly string[]; after: string; failing: boolean; most: number },
): Promise<LeasedWebhook[]> {
  return db.read<LeasedWebhook>(
    `with recursive waiting(webhook_id) as (
       (select webhook_id from accounts.webhook_messages where due_at is not null order by webhook_id limit 1)
       union all
       select (select webhook_id from accounts.webhook_messages
               where due_at is not null and webhook_id > waiting.webhook_id order by webhook_id limit 1)
       from waiting where waiting.webhook_id is not null
     ), chosen as (
       select webhook.id
       from accounts.webhooks as webhook join accounts.accounts as account on account.id = webhook.account_id
       where webhook.id in (select webhook_id from waiting) and ${isOpen} and (webhook.failing_since is null or $2)
         and (webhook.sender is null or webhook.sender = $5 or webhook.sender_until <= $1)
         and webhook.id <> all($7::text[]) and ${entitledSql(8)}
         and exists (select from accounts.webhook_messages as message
                     where message.webhook_id = webhook.id and message.due_at <= $1)
       order by webhook.id > $3 desc, webhook.id
       limit $4 for no key update of webhook skip locked
     )
     update accounts.webhooks as webhook set sender = $5, sender_until = $6
     from chosen where webhook.id = chosen.id
     returning ${leasedColumns}`,
    {
      bind: [now, failing, after, most, sender, until, leased, ...entitledBinds(plans)],
      transaction,
    },
  );
}

/** The current state of those of a worker's endpoints that it still leases and may send to. */
export async function selectLeased(
  db: AccountsDatabase,
  transaction: Transaction,
  { sender, now, plans }: LeaseOwner,
  ids: readonly string[],
): Promise<LeasedWebhook[]> {
  return db.read<LeasedWebhook>(
    `select ${leasedColumns}
     from accounts.webhooks as webhook join accounts.accounts as account on account.id = webhook.account_id
     where webhook.id = any($3::text[]) and webhook.sender = $2 and ${isOpen} and ${entitledSql(4)}`,
    { bind: [now, sender, ids, ...entitledBinds(plans)], transaction },
  );
}

/** Sets when leases of a worker end. @param until null: now. @param ids null: all its leases. */
export async function setLeases(
  db: AccountsDatabase,
  transaction: Transaction | null,
  { sender, until }: { sender: string; until: Date | null },
  ids: readonly string[] | null,
): Promise<void> {
  await db.sequelize.query(
    `with held as (
       select id from accounts.webhooks where sender = $1 and ($2::text[] is null or id = any($2)) order by id for no key update
     )
     update accounts.webhooks as webhook
     set sender = case when $3::timestamptz is not null then $1 end, sender_until = $3
     from held where webhook.id = held.id`,
    { bind: [sender, ids, until], transaction },
  );
}

/** A message that is due. */
export interface DueMessage {
  id: string;
  webhook_id: string;
  event_id: string;
  /** The number of recorded attempts. */
  attempts: number;
  failures: number;
  /** Null: the body of its event. */
  body: string | null;
}

/**
 * The messages due first: some of each endpoint, and together at most so many bytes of bodies, but at least one message.
 * @param wishes how many for which endpoint. @param excludedIds messages that this worker has already read.
 */
export async function selectDueMessages(
  db: AccountsDatabase,
  transaction: Transaction,
  {
    now,
    wishes,
    excludedIds,
    bytesMax,
  }: {
    now: Date;
    wishes: readonly { id: string; most: number }[];
    excludedIds: readonly string[];
    bytesMax: number;
  },
): Promise<DueMessage[]> {
  return db.read<DueMessage>(
    `with found as (
       select message.id, message.webhook_id, message.event_id, message.attempts, message.failures, message.body,
              octet_length(coalesce(message.body, event.body)) as size,
              row_number() over (partition by message.webhook_id order by message.due_at, message.id) as place
       from json_to_recordset($2::json) as wish(id text, most int) cross join lateral (
         select * from accounts.webhook_messages as due
         where due.webhook_id = wish.id and due.due_at <= $1 and due.id <> all($3::text[])
         order by due.due_at limit wish.most
       ) as message
       join accounts.webhook_events as event on event.id = message.event_id
     )
     select id, webhook_id, event_id, attempts, failures, body
     from (select *, sum(size) over all_of as total, row_number() over all_of as number from found
           window all_of as (order by place, webhook_id)) as counted
     where total <= $4 or number = 1
     order by place`,
    { bind: [now, JSON.stringify(wishes), excludedIds, bytesMax], transaction },
  );
}

/** The bodies of events, by id. */
export async function selectBodies(
  db: AccountsDatabase,
  transaction: Transaction,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await db.read<{ id: string; body: string }>(
    'select id, body from accounts.webhook_events where id = any($1::text[])',
    { bind: [ids], transaction },
  );
  return new Map(rows.map(({ id, body }) => [id, body]));
}

export interface EndpointState {
  id: string;
  accountId: string;
  url: string;
  isDisabled: boolean;
  health: Health;
}

/**
 * Locks endpoints in the common order, by id, and before their messages, as a deletion does.
 * @returns those that still exist.
 */
export async function lockWebhooks(
  db: AccountsDatabase,
  transaction: Transaction,
  ids: readonly string[],
): Promise<EndpointState[]> {
  const rows = await db.read<{
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
    { bind: [ids], transaction },
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

/** The result of an attempt. */
export interface Ended {
  message: string;
  /** The number of recorded attempts when it began. */
  attempts: number;
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
 * Records attempts and the resulting state of their messages. A failure does not change a message that had another attempt since, was delivered, or is
 * to be sent again on request, which sets its failures to 0; a success always ends it. Deleted messages are skipped.
 */
export async function recordAttempts(
  db: AccountsDatabase,
  transaction: Transaction,
  ended: readonly Ended[],
): Promise<void> {
  const isSame = 'message.attempts = ended.attempts and message.failures = ended.failures - 1';
  const counts = `(ended.status = 'delivered' or (message.status = 'pending' and ${isSame}))`;
  await db.sequelize.query(
    `with ended as (
       select * from json_to_recordset($1::json) as ended(message text, attempts int, at timestamptz, latency_ms int,
         http_status smallint, error text, response text, status text, due_at timestamptz, failures smallint)
     ), held as (
       update accounts.webhook_messages as message
       set attempts = message.attempts + 1,
           status = case when ${counts} then ended.status else message.status end,
           due_at = case when ${counts} then ended.due_at else message.due_at end,
           failures = case when ${counts} then ended.failures else message.failures end
       from ended where message.id = ended.message
       returning message.id, message.attempts
     )
     insert into accounts.webhook_attempts (message_id, attempt, at, latency_ms, status, error, response)
     select held.id, held.attempts, at, latency_ms, http_status, error, response
     from ended join held on held.id = ended.message`,
    { bind: [JSON.stringify(ended)], transaction },
  );
}

/** Postpones messages without an attempt. */
export async function putOffMessages(
  db: AccountsDatabase,
  ids: readonly string[],
  dueAt: Date,
): Promise<void> {
  await db.sequelize.query(
    `update accounts.webhook_messages set due_at = $2 where id = any($1::text[]) and status = 'pending'`,
    { bind: [ids, dueAt] },
  );
}

/** Writes the health of endpoints. */
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
    { bind: [JSON.stringify(rows)], transaction },
  );
}

/** Deletes some messages to deleted endpoints. @returns how many. */
export async function pruneMessagesOfDeleted(db: AccountsDatabase, limit: number): Promise<number> {
  const rows = await db.read<{ n: number }>(
    `with recursive named(webhook_id) as (
       (select webhook_id from accounts.webhook_messages order by webhook_id limit 1)
       union all
       select (select webhook_id from accounts.webhook_messages where webhook_id > named.webhook_id order by webhook_id limit 1)
       from named where named.webhook_id is not null
     ), deleted as (
       delete from accounts.webhook_messages where id in (
         select message.id from named join accounts.webhook_messages as message on message.webhook_id = named.webhook_id
         where not exists (select from accounts.webhooks where id = named.webhook_id) limit $1)
       returning true)
     select count(*)::int as n from deleted`,
    { bind: [limit] },
  );
  return rows[0]?.n ?? 0;
}

/** Deletes some events older than so many days, with their messages. @returns how many. */
export async function pruneEvents(
  db: AccountsDatabase,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const rows = await db.read<{ n: number }>(
    `with old as (
       delete from accounts.webhook_events where id in (
         select id from accounts.webhook_events where at < $1 order by at limit $2)
       returning true)
     select count(*)::int as n from old`,
    { bind: [before, limit] },
  );
  return rows[0]?.n ?? 0;
}

export interface Backlog {
  /** Events that have not been turned into messages yet. */
  outbox: number;
  /** The age of the oldest of them, in seconds; 0 without any. */
  outboxSeconds: number;
  /** Pending messages of enabled endpoints, including those between two attempts. */
  pending: number;
  /** How long the message that has been due longest has been due, in seconds; 0 if none is due. */
  overdueSeconds: number;
}

/** The backlog, without the messages of disabled and throttled endpoints and of accounts that receive nothing. */
export async function selectBacklog(
  db: AccountsDatabase,
  { now, plans }: { now: Date; plans: PlansWithWebhooks },
): Promise<Backlog> {
  const rows = await db.read<{
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
    { bind: [now, ...entitledBinds(plans)] },
  );
  const [row] = rows;
  return {
    outbox: row?.outbox ?? 0,
    outboxSeconds: row?.outbox_age ?? 0,
    pending: row?.pending ?? 0,
    overdueSeconds: row?.overdue ?? 0,
  };
}
