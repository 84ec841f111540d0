// Writes events, each in the transaction of its change, so that it is sent if and only if the change is committed.
import type { EventData, EventType } from './catalogue.ts';

/** An event to write. If its type has `series`, their ids are passed separately from its data. */
export interface NewEvent<Type extends EventType = EventType> {
  type: Type;
  /** Null: for every account, or for operators, depending on the type. */
  accountId: string | null;
  /** The ids of the series, at most 250, sorted; null: the event is not about series. */
  series: readonly string[] | null;
  /** Without `series`. */
  data: Omit<EventData<Type>, 'series'>;
  at: Date;
}

/** Runs a statement in the transaction of the change. */
export type RunInTransaction = (text: string, values: readonly unknown[]) => Promise<unknown>;

/** Writes events. @param run runs a statement in the transaction of the change. */
export async function writeEvents(run: RunInTransaction, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map(({ accountId, ...event }) => ({ ...event, account_id: accountId }));
  await run(
    `insert into events.outbox (type, account_id, series, data, at)
     select type, account_id, series, data, at
     from json_to_recordset($1::json)
       as event(type text, account_id text, series text[], data jsonb, at timestamptz)`,
    [JSON.stringify(rows)],
  );
}
