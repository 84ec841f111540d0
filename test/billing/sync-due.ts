import { startSyncing } from '../../accounts-api/billing/sync.ts';

/** Fetches the due customers, like one round of a worker, and waits for them. @returns how many. */
export async function syncDue(deps: Parameters<typeof startSyncing>[0]): Promise<number> {
  const syncing = startSyncing(deps);
  const count = await syncing.begin();
  await syncing.end();
  return count;
}
