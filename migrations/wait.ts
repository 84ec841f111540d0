// Waits until another process has migrated a database to this version, for services that start together with the migration job. At first there may be
// no server, role or table.
import { setTimeout as pause } from 'node:timers/promises';
import { SteadyClient } from '../kernel/database-circuit.ts';
import { requireSchema, type Migration } from '../kernel/schema.sql.ts';
import { knownMigrations } from './run.ts';

const betweenMs = 500;
const connectWithinMs = 5_000;

/**
 * @param print receives each new reason for waiting.
 * @throws Error with the last reason when the time is over.
 */
export async function waitForMigrations(
  databaseUrl: string,
  { withinMs, print }: { withinMs: number; print: (reason: string) => void },
): Promise<void> {
  const untilMs = performance.now() + withinMs;
  for (let printed = ''; ;) {
    const fault = await faultOf(databaseUrl);
    if (fault === undefined) return;
    if (performance.now() > untilMs)
      throw new Error(`The database was not brought to this version in time: ${fault}`);
    if (fault !== printed) print((printed = fault));
    await pause(betweenMs);
  }
}

/** Why services cannot use the database yet. */
async function faultOf(databaseUrl: string): Promise<string | undefined> {
  const client = new SteadyClient({
    connectionString: databaseUrl,
    application_name: 'almanac migrate --wait',
    connectionTimeoutMillis: connectWithinMs,
  });
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
