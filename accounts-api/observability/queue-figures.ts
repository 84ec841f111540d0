// The figures of the job queues for /metrics. pg-boss's own counts are some seconds old, and it does not report the age of a job.
import type { PgBoss } from 'pg-boss';

export interface QueueFigures {
  queue: string;
  /** Jobs to be run now. */
  due: number;
  /** Jobs to be run later, such as failed ones. */
  later: number;
  active: number;
  /** Jobs that failed for the last time. */
  failed: number;
  /** How long the job that has been due longest has been due. */
  overdueSeconds: number;
}

/** Further waiting jobs are not read individually. */
export const readMax = 1_000;

/**
 * @returns reads the figures. While more jobs wait than are read, the job that was due longest at the last reading still counts as due: it may be
 * done meanwhile, but a queue that stays this long is late.
 */
export function createQueueFigures(
  boss: Pick<PgBoss, 'getQueueStats' | 'findJobs'>,
  queues: readonly string[],
  nowMs: () => number = Date.now,
): () => Promise<QueueFigures[]> {
  const dueSinceMs = new Map<string, number>();

  async function read(queue: string): Promise<QueueFigures> {
    const [stats] = await boss.getQueueStats(queue);
    if (stats === undefined) throw new Error(`pg-boss has no figures of the queue ${queue}.`);
    const { queuedCount, readyCount, deferredCount, activeCount, failedCount } = stats;
    const counted = { queue, active: activeCount, failed: failedCount };
    const now = nowMs();
    if (queuedCount > readMax) {
      const sinceMs = dueSinceMs.get(queue) ?? now;
      if (readyCount > 0) dueSinceMs.set(queue, sinceMs);
      else dueSinceMs.delete(queue);
      const overdueSeconds = readyCount > 0 ? (now - sinceMs) / 1_000 : 0;
      return { ...counted, due: readyCount, later: deferredCount, overdueSeconds };
    }
    const waiting = await boss.findJobs(queue, { queued: true });
    const due = waiting.map(({ startAfter }) => startAfter.getTime()).filter((atMs) => atMs <= now);
    if (due.length === 0) dueSinceMs.delete(queue);
    else dueSinceMs.set(queue, Math.min(...due));
    const overdueSeconds = Math.max(0, ...due.map((atMs) => (now - atMs) / 1_000));
    return { ...counted, due: due.length, later: waiting.length - due.length, overdueSeconds };
  }
  return () => Promise.all(queues.map(read));
}
