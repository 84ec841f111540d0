// The clock of a PostgreSQL server of the chaos run: `now()` and `clock_timestamp()` of its database are ahead of the machine's. Hides how: functions
// of these names are found before PostgreSQL's own.
import pg from 'pg';

/** @param url of the database, as its owner: before anybody else connects. */
export async function moveDatabaseClock(url: string, aheadMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('create schema moved_clock');
    await setAhead(client, aheadMs);
    await client.query('grant usage on schema moved_clock to public');
    const database = client.escapeIdentifier(new URL(url).pathname.slice(1));
    await client.query(`alter database ${database} set search_path = moved_clock, pg_catalog, public`);
  } finally {
    await client.end();
  }
}

/** From the next statement on, the clock is this far ahead of the machine's. */
export async function stepDatabaseClock(url: string, aheadMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await setAhead(client, aheadMs);
  } finally {
    await client.end();
  }
}

async function setAhead(client: pg.Client, aheadMs: number): Promise<void> {
  for (const [name, kind] of [
    ['now', 'stable'],
    ['clock_timestamp', 'volatile'],
  ] as const) {
    await client.query(
      `create or replace function moved_clock.${name}() returns timestamptz language sql ${kind}
       return pg_catalog.${name}() + interval '${Math.round(aheadMs)} ms'`,
    );
  }
}
