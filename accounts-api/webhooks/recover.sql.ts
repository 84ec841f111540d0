// The statements that resend what an endpoint has missed: oldest first, limited in number.
import type { Transaction } from 'sequelize';
import { entryAt } from '../../kernel/entries.ts';
import type { AccountsDatabase } from '../database.ts';
import type { OutboxEvent } from './fan-out.sql.ts';

/** Each message is due a microsecond before the next, so that all are due at once, in order. */
const dueInOrder = (at: string) =>
  `${at}::timestamptz - (count(*) over () - number) * interval '1 microsecond'`;

/**
 * Restarts the schedule of an endpoint's failed messages created since an instant. @param limit the maximum number, oldest first.
 * @returns how many, and whether there are more.
 */
export async function resendFailedSince(
  db: AccountsDatabase,
  transaction: Transaction,
  { webhookId, since, now, limit }: { webhookId: string; since: Date; now: Date; limit: number },
): Promise<{ resent: number; hasMore: boolean }> {
  const resent = await countOf(
    db,
    transaction,
    `select id, row_number() over (order by created_at, id) as number from accounts.webhook_messages
     where webhook_id = $1 and status = 'failed' and created_at >= $3 order by created_at, id limit $4`,
    [webhookId, now, since, limit],
  );
  const others = await db.read(
    `select from accounts.webhook_messages where webhook_id = $1 and status = 'failed' and created_at >= $2 limit 1`,
    { bind: [webhookId, since], transaction },
  );
  return { resent, hasMore: others.length > 0 };
}

/**
 * Restarts the schedule of an endpoint's failed messages for some events, in the order of the events.
 * @param made the events whose messages this transaction has inserted: these are ordered with the others. @returns how many.
 */
export async function resendFailedOf(
  db: AccountsDatabase,
  transaction: Transaction,
  of: { webhookId: string; events: readonly string[]; made: readonly string[]; dueAt: Date },
): Promise<number> {
  return countOf(
    db,
    transaction,
    `select id, row_number() over (order by array_position($3::text[], event_id)) as number from accounts.webhook_messages
     where webhook_id = $1 and event_id = any($3) and (status = 'failed' or event_id = any($4::text[]))`,
    [of.webhookId, of.dueAt, of.events, of.made],
  );
}

/** @param failed a statement that numbers the messages; $2 is when they are due. */
async function countOf(
  db: AccountsDatabase,
  transaction: Transaction,
  failed: string,
  bind: unknown[],
): Promise<number> {
  const rows = await db.read<{ resent: number }>(
    `with failed as (${failed}), due as (select id, ${dueInOrder('$2')} as at from failed), resent as (
       update accounts.webhook_messages as message set status = 'pending', failures = 0, due_at = due.at
       from due where message.id = due.id returning true)
     select count(*)::int as resent from resent`,
    { bind, transaction },
  );
  return rows[0]?.resent ?? 0;
}

export interface Missed {
  /** Without the events that the worker has not yet turned into messages, as it will. */
  events: OutboxEvent[];
  /** The position of the last update that was examined. */
  cursor: string;
  hasMore: boolean;
  oldest: { cursor: string; at: Date } | null;
  newest: string;
  /** Whether the update of the cursor is still stored. */
  hasPlace: boolean;
  /** When the first update after the cursor was published; null if there is none. */
  firstAt: Date | null;
}

/** Updates after a position, oldest first. */
export async function selectUpdatesAfter(
  db: AccountsDatabase,
  transaction: Transaction,
  after: string,
  limit: number,
): Promise<Missed> {
  const run = <Row extends object>(text: string, bind: unknown[]) =>
    db.read<Row>(text, { bind, transaction });
  const places = await run<{ oldest: string | null; at: Date | null; newest: string; hasPlace: boolean }>(
    `select (select position::text from events.updates order by position limit 1) as oldest,
            (select at from events.updates order by position limit 1) as at,
            coalesce((select max(position) from events.updates), 0)::text as newest,
            exists (select from events.updates where position = $1::bigint) as "hasPlace"`,
    [after],
  );
  const found = await run<OutboxEvent & { waits: boolean }>(
    `select position::text, id, type, null as account_id, series, data, at,
            exists (select from events.outbox where outbox.id = updates.id) as waits
     from events.updates where position > $1::bigint order by updates.position limit $2`,
    [after, limit + 1],
  );
  const { oldest, at, newest, hasPlace } = entryAt(places, 0);
  const events = found.slice(0, limit);
  return {
    events: events.filter(({ waits }) => !waits),
    cursor: events.at(-1)?.position ?? after,
    hasMore: found.length > limit,
    oldest: oldest === null || at === null ? null : { cursor: oldest, at },
    newest,
    hasPlace,
    firstAt: events[0]?.at ?? null,
  };
}

/** The events for which an endpoint has a message, in any state. */
export async function selectKnownEvents(
  db: AccountsDatabase,
  transaction: Transaction,
  webhookId: string,
  events: readonly string[],
): Promise<Set<string>> {
  const rows = await db.read<{ id: string }>(
    'select event_id as id from accounts.webhook_messages where webhook_id = $1 and event_id = any($2::text[])',
    { bind: [webhookId, events], transaction },
  );
  return new Set(rows.map(({ id }) => id));
}
