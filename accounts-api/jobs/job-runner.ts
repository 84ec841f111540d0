// Runs the jobs of one queue: several concurrently, fetched in batches, the most urgent first, each completed as soon as it is done. Leases of
// running jobs are renewed until they end, and expire with the process.
import { setTimeout as pause } from 'node:timers/promises';
import type { PgBoss } from 'pg-boss';
import type { Log } from '../../kernel/log/log.ts';
import { repeat } from '../../kernel/time/repeat.ts';

export interface JobRunner {
  /** Fetches no more jobs and waits up to half a minute for running ones; then returns the rest to the queue. */
  close(): Promise<void>;
}

/** Four times the mailer's connections, so that none of them waits for the next batch. */
const jobsMax = 20;
/** A batch is fetched as soon as it can be this large. */
const batchMin = jobsMax / 2;
const pollMs = 500;
/** A third of the shortest lease. */
const renewMs = 3_000;
const closeTimeoutMs = 30_000;

/** @param perform runs one job; if it throws, the job is run again later. */
export function runJobs(
  boss: PgBoss,
  queue: string,
  log: Log,
  perform: (job: object, id: string) => Promise<void>,
): JobRunner {
  /** Fetched jobs that are not completed yet. */
  const leased = new Set<string>();
  const done: string[] = [];
  const failed: { id: string; error: unknown }[] = [];
  const closing = new AbortController();
  let running = 0;
  let recording: Promise<void> | undefined;
  /** Resolved when the next job ends. */
  let ended = Promise.withResolvers<void>();
  /** Resolved when the last job has ended, once it closes. */
  const idle = Promise.withResolvers<void>();

  async function run(id: string, job: object): Promise<void> {
    running += 1;
    leased.add(id);
    try {
      await perform(job, id);
      done.push(id);
    } catch (error) {
      failed.push({ id, error });
    }
    running -= 1;
    ended.resolve();
    ended = Promise.withResolvers();
    if (closing.signal.aborted && running === 0) idle.resolve();
    await recordEnded();
  }

  /** Records ended jobs. Resolves when that is done, even if a recording was already running: `close` then returns the rest to the queue. */
  function recordEnded(): Promise<void> {
    if (done.length + failed.length > 0) recording ??= record();
    return recording ?? Promise.resolve();
  }

  /** Uses fewer statements while the database is slow. What cannot be recorded is retried with the next renewal. */
  async function record(): Promise<void> {
    while (done.length + failed.length > 0) {
      const [completed, refused] = [done.splice(0), failed.splice(0)];
      const again = refused.map(({ id }) => id);
      try {
        if (completed.length > 0) await boss.complete(queue, completed);
        if (again.length > 0) await boss.fail(queue, again);
      } catch (error) {
        done.push(...completed);
        failed.push(...refused);
        log.warn({ err: error, queue }, 'ended jobs could not be recorded; will retry');
        break;
      }
      for (const id of [...completed, ...again]) leased.delete(id);
      const [first] = refused;
      if (first !== undefined) {
        log.warn(
          { err: first.error, queue, job: first.id, jobs: again.length },
          'jobs failed; they will be run again',
        );
      }
    }
    recording = undefined;
  }

  async function fetchJobs(): Promise<void> {
    while (!closing.signal.aborted) {
      if (jobsMax - running < batchMin) {
        await ended.promise;
        continue;
      }
      const jobs = await boss
        .fetch<object>(queue, { batchSize: jobsMax - running })
        .catch((error: unknown) => {
          log.warn({ err: error, queue }, 'jobs could not be fetched; will retry');
          return [];
        });
      for (const { id, data } of jobs) void run(id, data);
      if (jobs.length > 0) continue;
      await pause(pollMs, undefined, { signal: closing.signal }).catch(() => undefined); // aborted by close()
    }
  }

  async function renew(): Promise<void> {
    void recordEnded(); // a renewal does not wait for it
    if (leased.size > 0) await boss.touch(queue, [...leased]);
  }
  const renewing = repeat(renew, {
    everyMs: renewMs,
    onError: (error) => log.warn({ err: error, queue }, 'leases of jobs could not be renewed'),
  });
  const fetching = fetchJobs();

  return {
    async close() {
      closing.abort();
      ended.resolve();
      await fetching;
      if (running > 0) await Promise.race([idle.promise, pause(closeTimeoutMs, undefined, { ref: false })]);
      await renewing.close();
      await recordEnded();
      if (leased.size > 0) await boss.fail(queue, [...leased], { message: 'The worker was stopped.' });
    },
  };
}
