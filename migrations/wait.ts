// Waits until another process has brought a database to this version: for what starts beside the job that migrates.
// Hides asking again, and that at first there may be no server, no role and no table.
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { requireSchema, type Migration } from '../kernel/schema.sql.ts';
import { knownMigrations } from './run.ts';

const betweenMs = 500;
const connectWithinMs = 5_000;

/**
 * @param print is given each new reason for waiting.
 * @throws Error with the last reason, when the time is over.
 */
export async function waitForMigrations(
  databaseUrl: string,
  { withinMs, print }: { withinMs: number; print: (reason: string) => void },
): Promise<void> {
  const untilMs = performance.now() + withinMs;
  for (let told = ''; ;) {
    const fault = await faultOf(databaseUrl);
    if (fault === undefined) return;
    if (performance.now() > untilMs)
      throw new Error(`The database was not brought to this version in time: ${fault}`);
    if (fault !== told) print((told = fault));
    await pause(betweenMs);
  }
}

/** Why the database cannot be served from yet. */
async function faultOf(databaseUrl: string): Promise<string | undefined> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'almanac migrate --wait',
    connectionTimeoutMillis: connectWithinMs,
  });
  client.on('error', () => undefined); // a query that it ends fails by itself
  try {
    await client.connect();
    await requireSchema(async (text) => (await client.query<Migration>(text)).rows, knownMigrations());
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await client.end().catch(() => undefined); // it may never have been connected
  }
}
