// The events of an account, such as a new key or a reached threshold. Each is written in the transaction of its change.
import type { Transaction } from 'sequelize';
import type { Clock } from '../kernel/clock.ts';
import type { AccountEventType, EventData } from '../kernel/events/catalogue.ts';
import { writeEvents } from '../kernel/events/outbox.sql.ts';
import type { AccountsDatabase } from './database.ts';

/** An event of an account. */
export type AccountEvent = {
  [Type in AccountEventType]: { type: Type; accountId: string; data: EventData<Type> };
}[AccountEventType];

/** Writes events with the current time. @param transaction of the change that they report. */
export async function emitEvents(
  { db, clock }: { db: AccountsDatabase; clock: Clock },
  transaction: Transaction,
  ...events: AccountEvent[]
): Promise<void> {
  const at = clock.now();
  await writeEvents(
    (text, values) => db.sequelize.query(text, { bind: [...values], transaction }),
    events.map((event) => ({ ...event, series: null, at })),
  );
}
