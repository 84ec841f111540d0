// Reads the events that were written by changes, and checks each against the schema of its type.
import pg from 'pg';
import { z } from 'zod';
import type { Queryable } from '../../kernel/database.ts';
import { eventKinds, eventTypes, type EventType } from '../../kernel/events/catalogue.ts';

/** A row of events.outbox; `data` as it is delivered. */
export interface WrittenEvent {
  id: string;
  type: EventType;
  accountId: string | null;
  data: Record<string, unknown>;
  at: Date;
}

const schemas = new Map(
  eventTypes.map((type) => [type as string, z.strictObject(eventKinds[type].data.shape)]),
);

/** The events of a database, in the order of writing. @throws Error if one does not match the catalogue. */
export async function writtenEvents(database: Pick<Queryable, 'query'>): Promise<WrittenEvent[]> {
  const rows = await database.query<WrittenEvent & { series: string[] | null }>(
    'select id, type, account_id as "accountId", series, data, at from events.outbox order by position',
  );
  return rows.map(({ series, data, ...event }) => {
    const delivered = series === null ? data : { ...data, series };
    checkEvent(event.type, event.accountId, delivered);
    return { ...event, data: delivered };
  });
}

/** As `writtenEvents`, on its own connection. Empty if a migration test has dropped the schema. */
export async function eventsIn(databaseUrl: string): Promise<WrittenEvent[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query("select from pg_namespace where nspname = 'events'");
    return rowCount === 0
      ? []
      : await writtenEvents({ query: async (text) => (await client.query(text)).rows });
  } finally {
    await client.end();
  }
}

function checkEvent(type: string, accountId: string | null, data: unknown): void {
  const schema = schemas.get(type);
  if (schema === undefined) throw new Error(`an event of an unknown type: ${type}`);
  const { success, error } = schema.safeParse(data);
  if (!success) throw new Error(`an event ${type} is not as its schema says: ${z.prettifyError(error)}`);
  const isOfAccount = eventKinds[type as EventType].of === 'account';
  if (isOfAccount !== (accountId !== null)) throw new Error(`an event ${type} of account ${accountId}`);
  const { series } = data as { series?: string[] };
  if (series !== undefined && series.join(' ') !== series.toSorted().join(' '))
    throw new Error(`an event ${type} whose series are not sorted`);
}
