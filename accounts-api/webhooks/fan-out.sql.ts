// The statements that turn events into messages.
import type { Transaction } from 'sequelize';
import type { EventType } from '../../kernel/events/catalogue.ts';
import type { AccountsDatabase } from '../database.ts';
import { entitledBinds, entitledSql, type PlansWithWebhooks } from './sending/entitled.sql.ts';

/** An event of the outbox. */
export interface OutboxEvent {
  position: string;
  id: string;
  type: EventType;
  /** Null: for every account, or for operators, depending on the type. */
  account_id: string | null;
  /** Null: the event is not about series. */
  series: string[] | null;
  data: Record<string, unknown>;
  at: Date;
}

/** The oldest events, locked; events locked by another worker are skipped. */
export async function claimEvents(
  db: AccountsDatabase,
  transaction: Transaction,
  limit: number,
): Promise<OutboxEvent[]> {
  return db.read<OutboxEvent>(
    `select position, id, type, account_id, series, data, at from events.outbox
     order by position limit $1 for update skip locked`,
    { bind: [limit], transaction },
  );
}

export async function deleteEvents(
  db: AccountsDatabase,
  transaction: Transaction,
  positions: readonly string[],
): Promise<void> {
  await db.sequelize.query('delete from events.outbox where position = any($1::bigint[])', {
    bind: [positions],
    transaction,
  });
}

/** The fields of an endpoint that decide which events it receives. */
export interface Listener {
  id: string;
  account_id: string;
  events: EventType[];
  series: string[] | null;
  /** False: its subscription is inactive, so it receives only events of its own account. */
  hears_all: boolean;
  /** Whether it receives events for operators. */
  is_operator: boolean;
}

/** The endpoints that receive some of these types, protected from deletion until the end of the transaction. */
export async function selectListeners(
  db: AccountsDatabase,
  transaction: Transaction,
  {
    types,
    accountIds,
    everybody,
    plans,
  }: {
    types: readonly string[];
    accountIds: readonly string[];
    everybody: boolean;
    plans: PlansWithWebhooks;
  },
): Promise<Listener[]> {
  return db.read<Listener>(
    `select webhook.id, webhook.account_id, webhook.events, webhook.series,
            account.subscription_state <> 'inactive' as hears_all,
            coalesce(account.role = 'operator', false) as is_operator
     from accounts.webhooks as webhook join accounts.accounts as account on account.id = webhook.account_id
     where webhook.disabled_at is null and webhook.events && $1::text[]
       and ($2 or webhook.account_id = any($3::text[])) and ${entitledSql(4)}
     for key share of webhook`,
    {
      bind: [types, everybody, accountIds, ...entitledBinds(plans)],
      transaction,
    },
  );
}

export async function countEnabled(db: AccountsDatabase): Promise<number> {
  const rows = await db.read<{ n: number }>(
    'select count(*)::int as n from accounts.webhooks where disabled_at is null',
  );
  return rows[0]?.n ?? 0;
}

export interface NewMessages {
  /** When the messages are created. */
  at: Date;
  events: readonly { id: string; at: Date; body: string }[];
  messages: readonly {
    id: string;
    webhookId: string;
    eventId: string;
    type: EventType;
    /** Null: the body of the event. */
    body: string | null;
    /** The delay until it is due. */
    afterMs: number;
  }[];
}

/** Inserts messages and their events; an event that is already stored is left unchanged. */
export async function insertMessages(
  db: AccountsDatabase,
  transaction: Transaction,
  { at, events, messages }: NewMessages,
): Promise<void> {
  const run = (text: string, bind: unknown[]) => db.sequelize.query(text, { bind, transaction });
  await run(
    `insert into accounts.webhook_events (id, at, body)
     select id, at, body from json_to_recordset($1::json) as event(id text, at timestamptz, body text)
     on conflict (id) do nothing`,
    [JSON.stringify(events.map((event) => ({ id: event.id, at: event.at, body: event.body })))],
  );
  await run(
    `insert into accounts.webhook_messages (id, webhook_id, event_id, type, body, created_at, due_at)
     select id, webhook, event, type, body, $2, $2::timestamptz + after * interval '1 ms'
     from json_to_recordset($1::json) as message(id text, webhook text, event text, type text, body text, after int)`,
    [
      JSON.stringify(
        messages.map(({ id, webhookId: webhook, eventId: event, type, body, afterMs: after }) => ({
          ...{ id, webhook, event, type, body, after },
        })),
      ),
      at,
    ],
  );
}
