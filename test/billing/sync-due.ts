import { startSyncing } from '../../accounts-api/billing/sync.ts';

/** Fetches the customers that are due, as a worker does in one round, and waits for them. @returns how many. */
export async function syncDue(deps: Parameters<typeof startSyncing>[0]): Promise<number> {
  const syncing = startSyncing(deps);
  const count = await syncing.begin();
  await syncing.end();
  return count;
}
