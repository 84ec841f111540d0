// Events for tests, written to the outbox as a change writes them; and their results.
import { randomBytes } from 'node:crypto';
import { QueryTypes } from 'sequelize';
import { writeEvents, type NewEvent } from '../../kernel/events/outbox.sql.ts';
import { until } from '../run/until.ts';
import type { AccountsService } from '../services/accounts-service.ts';

type Service = Pick<AccountsService, 'deps'>;

/** Writes events in one transaction. */
export async function emit({ deps: { db } }: Service, ...events: NewEvent[]): Promise<void> {
  await db.inLedgerTransaction((transaction) =>
    writeEvents((text, values) => db.sequelize.query(text, { bind: [...values], transaction }), events),
  );
}

const load = { load: 1, published_at: '2026-11-20T10:00:00Z', vintage: '2026-11-20' };

/** An event about series, for every account. */
export function seriesEvent(
  { deps }: Service,
  series: readonly string[],
  type: 'series.updated' | 'series.revised' = 'series.updated',
): NewEvent {
  return { type, accountId: null, series, data: load, at: deps.clock.now() };
}

/** An event about a key of one account. @returns it, and a name that distinguishes it from all others. */
export function keyEvent({ deps }: Service, accountId: string): { event: NewEvent; name: string } {
  const name = `key ${randomBytes(8).toString('hex')}`;
  const data = { key: `key_${'a'.repeat(20)}`, name, masked: 'pk_live_abcd…wxyz' };
  return { event: { type: 'key.revoked', accountId, series: null, data, at: deps.clock.now() }, name };
}

export interface StoredMessage {
  id: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  failures: number;
  due_at: Date | null;
}

/** The messages to an endpoint, the oldest first. */
export function messagesTo({ deps }: Service, webhookId: string): Promise<StoredMessage[]> {
  return deps.db.sequelize.query<StoredMessage>(
    `select id, status, attempts, failures, due_at from accounts.webhook_messages
     where webhook_id = $1 order by created_at, id`,
    { bind: [webhookId], type: QueryTypes.SELECT },
  );
}

/** Resolves once the outbox is empty. */
export function untilMessagesAreMade({ deps }: Service): Promise<void> {
  return until('the outbox is empty', async () => {
    const rows = await deps.db.sequelize.query('select from events.outbox limit 1', {
      type: QueryTypes.SELECT,
    });
    return rows.length === 0;
  });
}

/** Resolves once a message to an endpoint has had this many attempts, and the last is recorded. */
export function untilAttempted(service: Service, webhookId: string, attempts: number): Promise<void> {
  return until(`attempt ${attempts} is recorded`, async () => {
    const rows = await service.deps.db.sequelize.query<{ n: number }>(
      `select count(*)::int as n from accounts.webhook_attempts as attempt
       join accounts.webhook_messages as message on message.id = attempt.message_id where webhook_id = $1`,
      { bind: [webhookId], type: QueryTypes.SELECT },
    );
    return (rows[0]?.n ?? 0) >= attempts;
  });
}

/** When the next message to an endpoint may be sent; null if none waits. */
export async function nextAttemptOf({ deps }: Service, webhookId: string): Promise<Date | null> {
  const rows = await deps.db.read<{ at: Date | null }>(
    `select greatest(min(due_at), throttled_until) as at
     from accounts.webhook_messages join accounts.webhooks as webhook on webhook.id = webhook_id
     where webhook.id = $1 and due_at is not null group by webhook.id`,
    { bind: [webhookId] },
  );
  return rows[0]?.at ?? null;
}

/** Ends the lease of an endpoint, as time does for a worker that has stalled: others may send to it now. */
export async function endLeaseOf({ deps }: Service, webhookId: string): Promise<void> {
  await deps.db.sequelize.query(
    "update accounts.webhooks set sender = 'stalled', sender_until = '2000-01-01T00:00:00Z' where id = $1",
    { bind: [webhookId] },
  );
}
