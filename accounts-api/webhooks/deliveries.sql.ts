// The statements for the delivery log: its pages, one delivery with its attempts, and sending it again.
import type { Transaction } from 'sequelize';
import type { EventType } from '../../kernel/events/catalogue.ts';
import type { AccountsDatabase } from '../database.ts';

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** A message, with its last attempt. */
export interface DeliveryRow {
  id: string;
  type: EventType;
  event: string;
  status: DeliveryStatus;
  created_at: Date;
  attempts: number;
  next_attempt_at: Date | null;
  last_attempt_at: Date | null;
  last_status: number | null;
  last_error: string | null;
}

export interface DeliveryPlace {
  createdAt: Date;
  id: string;
}

const columns = `message.id, message.type, message.event_id as event, message.status, message.created_at, message.attempts,
  message.due_at as next_attempt_at, last.at as last_attempt_at, last.status as last_status, last.error as last_error`;
const withLast = `left join lateral (
  select at, status, error from accounts.webhook_attempts where message_id = message.id order by attempt desc limit 1
) as last on true`;

/** A page of the messages to an endpoint. @param page.after the end of the previous page. */
export async function selectDeliveries(
  db: AccountsDatabase,
  webhookId: string,
  page: {
    sort: string;
    status: DeliveryStatus | null;
    type: EventType | null;
    after: DeliveryPlace | null;
    limit: number;
  },
): Promise<DeliveryRow[]> {
  const [behind, direction] = page.sort === 'created_at' ? ['>', 'asc'] : ['<', 'desc'];
  return db.read<DeliveryRow>(
    `select ${columns}
     from (
       select * from accounts.webhook_messages
       where webhook_id = $1 and ($2::text is null or status = $2) and ($3::text is null or type = $3)
         and ($4::timestamptz is null or (created_at, id) ${behind} ($4, $5))
       order by created_at ${direction}, id ${direction} limit $6
     ) as message ${withLast}
     order by message.created_at ${direction}, message.id ${direction}`,
    {
      bind: [
        webhookId,
        page.status,
        page.type,
        page.after?.createdAt ?? null,
        page.after?.id ?? null,
        page.limit,
      ],
    },
  );
}

export interface Attempt {
  at: Date;
  latency_ms: number;
  status: number | null;
  error: string | null;
  response: string | null;
}

/** A message to an endpoint, with its body and its last attempts, newest first; null if it does not exist. */
export async function selectDelivery(
  db: AccountsDatabase,
  webhookId: string,
  id: string,
  attemptsMax: number,
): Promise<{ delivery: DeliveryRow & { body: string }; attempts: Attempt[] } | null> {
  const [delivery] = await db.read<DeliveryRow & { body: string }>(
    `select ${columns}, coalesce(message.body, event.body) as body
     from accounts.webhook_messages as message
     join accounts.webhook_events as event on event.id = message.event_id ${withLast}
     where message.webhook_id = $1 and message.id = $2`,
    { bind: [webhookId, id] },
  );
  if (delivery === undefined) return null;
  const attempts = await db.read<Attempt>(
    `select at, latency_ms, status, error, response from accounts.webhook_attempts
     where message_id = $1 order by attempt desc limit $2`,
    { bind: [id, attemptsMax] },
  );
  return { delivery, attempts };
}

/** Restarts the schedule of a message, due at once. @returns false if the endpoint has no such message. */
export async function resendMessage(
  db: AccountsDatabase,
  transaction: Transaction,
  { webhookId, id, now }: { webhookId: string; id: string; now: Date },
): Promise<boolean> {
  return db.hasRow(
    `update accounts.webhook_messages set status = 'pending', failures = 0, due_at = $3
     where webhook_id = $1 and id = $2 returning true`,
    { bind: [webhookId, id, now], transaction },
  );
}
