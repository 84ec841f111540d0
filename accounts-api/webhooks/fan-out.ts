// Turns the events of the outbox into messages: one per event and receiving endpoint, in the transaction that deletes the event. A crash before the
// commit leaves the event; after it, the messages. In the same transaction, operators are mailed the events that concern them.
import type { Transaction } from 'sequelize';
import { instantText } from '../../kernel/clock.ts';
import { eventKinds, type EventType } from '../../kernel/events/catalogue.ts';
import { visibleAfterMs } from '../../kernel/http/validity.ts';
import { planOf, type Plans } from '../../kernel/plans.ts';
import type { Deps } from '../database.ts';
import { newId } from '../ids.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { selectOperators } from '../models/accounts.sql.ts';
import {
  countEnabled,
  deleteEvents,
  insertMessages,
  selectListeners,
  claimEvents,
  type Listener,
  type NewMessages,
  type OutboxEvent,
} from './fan-out.sql.ts';
import { type PlansWithWebhooks } from './sending/entitled.sql.ts';

const eventsMax = 200;
/** The maximum number of messages of a batch, which limits its memory and its transaction; a single event may exceed it. */
const messagesMax = 20_000;

type FanOutDeps = Deps & { jobs: Jobs };

/**
 * Turns a batch of events into messages. Events without a receiving endpoint are deleted.
 * @returns the number of events; 0: the outbox is empty, or other workers have locked all of it.
 */
export async function fanOut(deps: FanOutDeps): Promise<number> {
  const { db, plans, clock } = deps;
  const limit = Math.min(eventsMax, Math.ceil(messagesMax / Math.max(1, await countEnabled(db))));
  return db.inLedgerTransaction(async (transaction) => {
    const events = await claimEvents(db, transaction, limit);
    if (events.length === 0) return 0;
    const listeners = await selectListeners(db, transaction, {
      types: [...new Set(events.map(({ type }) => type))],
      accountIds: [...new Set(events.flatMap(({ account_id: accountId }) => accountId ?? []))],
      everybody: events.some(({ account_id: accountId }) => accountId === null),
      plans: plansWithWebhooks(plans),
    });
    const made = messagesOf(events, listeners);
    if (made.messages.length > 0) await insertMessages(db, transaction, { ...made, at: clock.now() });
    await mailOperators(deps, transaction, events);
    await deleteEvents(
      db,
      transaction,
      events.map(({ position }) => position),
    );
    return events.length;
  });
}

/** E-mails each operator about each failed source, whether or not an endpoint receives the event. */
async function mailOperators(
  { db, jobs }: FanOutDeps,
  transaction: Transaction,
  events: readonly OutboxEvent[],
): Promise<void> {
  const failed = events.filter(({ type }) => type === 'source.failed');
  if (failed.length === 0) return;
  const operators = await selectOperators(db, transaction);
  const mails = failed.flatMap(({ data }) => {
    const { source, reason, failures, failing_since, next_fetch_at } =
      eventKinds['source.failed'].data.parse(data);
    const about = { source, reason, failures, failingSince: failing_since, nextFetchAt: next_fetch_at };
    return operators.map((accountId) => ({ mail: 'source_failed' as const, accountId, ...about }));
  });
  if (mails.length > 0) await jobs.enqueue(transaction, ...mails);
}

export function plansWithWebhooks(plans: Plans): PlansWithWebhooks {
  const having = plans.all.filter(({ features }) => features.includes('webhooks')).map(({ id }) => id);
  return {
    having,
    known: plans.all.map(({ id }) => id),
    freeHas: having.includes(planOf(plans, 'free').id),
  };
}

/** The messages of the events, each to the endpoints that receive it. */
export function messagesOf(
  events: readonly OutboxEvent[],
  listeners: readonly Listener[],
): Omit<NewMessages, 'at'> {
  const filtered = listeners.map((listener) => ({ listener, choose: chooserOf(listener.series) }));
  const made: { events: NewMessages['events'][number][]; messages: NewMessages['messages'][number][] } = {
    events: [],
    messages: [],
  };
  for (const event of events) {
    const { id: eventId, type, series, data } = event;
    const before = made.messages.length;
    for (const { listener, choose } of filtered) {
      if (!receives(listener, event)) continue;
      const chosen = series === null ? null : choose(series);
      if (chosen?.length === 0) continue;
      const isWhole = chosen === null || chosen.length === series?.length;
      const body = isWhole ? null : bodyOf(event, { ...data, series: chosen });
      const afterMs = event.account_id === null ? visibleAfterMs : 0; // a receiver notified of a load must not get cached answers from before it
      made.messages.push({ id: newId('msg'), webhookId: listener.id, eventId, type, body, afterMs });
    }
    if (made.messages.length === before) continue;
    const body = bodyOf(event, series === null ? data : { ...data, series });
    made.events.push({ id: eventId, at: event.at, body });
  }
  return made;
}

function receives(listener: Listener, { type, account_id: accountId }: OutboxEvent): boolean {
  if (!listener.events.includes(type)) return false;
  if (eventKinds[type].of === 'operators') return listener.is_operator;
  return accountId === null ? listener.hears_all : listener.account_id === accountId;
}

/** Returns a function that selects the series matching a filter: ids, and prefixes ending in `*`. */
function chooserOf(filter: readonly string[] | null): (series: readonly string[]) => string[] {
  if (filter === null) return (series) => [...series];
  const ids = new Set(filter);
  const beginnings = filter.filter((each) => each.endsWith('*')).map((each) => each.slice(0, -1));
  return (series) =>
    series.filter((id) => ids.has(id) || beginnings.some((beginning) => id.startsWith(beginning)));
}

/** The body of a message: these bytes are stored, signed and sent. */
export function bodyOf({ type, at }: { type: EventType; at: Date }, data: object): string {
  return JSON.stringify({ type, timestamp: instantText(at), data });
}
