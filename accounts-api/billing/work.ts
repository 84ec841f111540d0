// The worker's periodic billing work: fetches due customers, ends graces, checks open checkouts. Any number of workers can run concurrently.
import { setTimeout as pause } from 'node:timers/promises';
import type { Metric } from '../../kernel/metrics/text.ts';
import { billingFigures, gaugesOfBilling } from './figures.ts';
import type { InboxFigures } from './inbox.sql.ts';
import { checkSessions, startSyncing, type SyncDeps } from './sync.ts';
import { endGraces } from './apply-subscription.ts';

const syncEveryMs = 500;
const graceEveryMs = 1_000;
const sessionsEveryMs = 60_000;
const countEveryMs = 10_000;

/** Begins to work. `close` finishes the running work. */
export function startBillingWork(deps: SyncDeps): { gauges: Metric[]; close(): Promise<void> } {
  const closing = new AbortController();
  const syncing = startSyncing(deps);
  let figures: InboxFigures | undefined;
  async function count(): Promise<number> {
    figures = await billingFigures(deps);
    return 0;
  }
  /** Works until nothing is due, then pauses. */
  async function repeat(what: string, everyMs: number, work: () => Promise<number>): Promise<void> {
    while (!closing.signal.aborted) {
      const done = await work().catch((error: unknown) => {
        deps.log.warn({ err: error }, `${what} failed; will retry`);
        return 0;
      });
      if (done > 0) continue;
      await pause(everyMs, undefined, { signal: closing.signal }).catch(() => undefined); // aborted by close()
    }
  }
  const running = [
    repeat('fetching customers from Stripe', syncEveryMs, () => syncing.begin()),
    repeat('ending graces', graceEveryMs, () => endGraces(deps)),
    repeat('checking open checkouts', sessionsEveryMs, () => checkSessions(deps)),
    repeat('counting customers to fetch', countEveryMs, count),
  ];
  return {
    gauges: gaugesOfBilling(() => figures, deps.clock.now),
    async close() {
      closing.abort();
      await Promise.all(running);
      await syncing.end();
    },
  };
}
