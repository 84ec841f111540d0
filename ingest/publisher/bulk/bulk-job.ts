// Keeps the bulk files up to date: watches for loads, waits until they pause, and starts writing the files. Writing takes only a limited
// part of the time. Retractions are written without waiting for a pause.
import { openBulkStore } from '../../../domain/bulk/open-store.ts';
import type { BulkStore } from '../../../domain/bulk/store.ts';
import { readNewestWithdrawal } from '../../../domain/bulk/withdrawals.sql.ts';
import type { Database } from '../../../kernel/database.ts';
import type { Log } from '../../../kernel/log/log.ts';
import { listPinnedDays, readNewestLoad } from '../../bulk/bulk.sql.ts';
import type { BulkSettings } from '../../bulk/write-bulk.ts';
import type { ChildRunner } from '../child-process/run-in-child.ts';
import { run, type Pauses, type Running } from '../periodic-job/periodic-job.ts';

/** Written in a child process, so that a release of the publisher never waits for a row group. The answer is that of `writeBulk`. */
export interface BulkTasks {
  'write-bulk': { given: BulkSettings; answer: number | null; event: never };
}

export interface BulkJobDeps {
  database: Database;
  clock: Pauses;
  log: Log;
  children: Pick<ChildRunner<BulkTasks>, 'run'>;
  /** A monotonic clock in ms; default: that of the process. */
  nowMs?: () => number;
}

/** The files are kept up to date until this is closed. */
export interface BulkJob extends Running {
  store: BulkStore;
  /** The counters of this process, since it started. */
  figures: BulkFigures;
}

export interface BulkFigures {
  /** Writes by outcome. */
  outcomes: Record<'written' | 'unchanged' | 'failed', number>;
  /** The duration of the last write that was not `unchanged`; undefined before the first. */
  lastWriteSeconds: number | undefined;
}

const lookEveryMs = 1_000;
/** Files are written after this time without a load. */
const quietMs = 5_000;
/** Files are written after a minute of loads, whether or not they pause. */
const waitMostMs = 60_000;
/** A write is followed by a pause this many times as long. */
const pauseTimes = 4;
const afterFaultMs = 60_000;
/** Files past their retention are removed even without a load. */
const sweepEveryMs = 3_600_000;

export async function startBulk(deps: BulkJobDeps, settings: BulkSettings): Promise<BulkJob> {
  const { database, clock, log, children, nowMs = () => performance.now() } = deps;
  const store = await openBulkStore(settings.place);
  const figures: BulkFigures = {
    outcomes: { written: 0, unchanged: 0, failed: 0 },
    lastWriteSeconds: undefined,
  };
  let written = -1; // the files are as of this load
  let daysWritten: ReadonlySet<string | null> = new Set();
  let writtenAtMs = -Infinity;
  let notBeforeMs = -Infinity;
  let seen = { load: -1, atMs: 0, firstAtMs: 0 };

  async function readWritten(): Promise<void> {
    const manifest = await store.readManifest();
    written = manifest?.load ?? -1;
    daysWritten = new Set(manifest?.files.map((file) => file.as_of));
  }

  const isNew = (day: string) => !daysWritten.has(day);

  async function isDue(load: number): Promise<boolean> {
    const now = nowMs();
    if (now >= notBeforeMs && (await listPinnedDays(database, settings.daysMax)).some(isNew)) return true;
    if (load === written) return now - writtenAtMs >= sweepEveryMs;
    if (seen.load !== load)
      seen = { load, atMs: now, firstAtMs: seen.load <= written ? now : seen.firstAtMs };
    if ((await readNewestWithdrawal(database)) > written && written >= 0) return true;
    if (now < notBeforeMs) return false;
    return now - seen.atMs >= quietMs || now - seen.firstAtMs >= waitMostMs;
  }

  async function write(signal: AbortSignal): Promise<void> {
    const startedAtMs = nowMs();
    notBeforeMs = startedAtMs + afterFaultMs;
    let files: number | null;
    try {
      files = await children.run('write-bulk', settings, { signal });
    } catch (error) {
      if (!signal.aborted) figures.outcomes.failed += 1;
      throw error;
    }
    const ms = nowMs() - startedAtMs;
    notBeforeMs = startedAtMs + ms + pauseTimes * ms;
    if (files === null) return; // another process writes
    figures.outcomes[files > 0 ? 'written' : 'unchanged'] += 1;
    await readWritten();
    writtenAtMs = nowMs();
    if (files === 0) return;
    figures.lastWriteSeconds = ms / 1_000;
    const about = { event: 'bulk_written', files, load: written, ms: Math.round(ms) };
    log.info(about, 'Bulk files were written');
  }

  async function look(signal: AbortSignal): Promise<boolean> {
    const load = await readNewestLoad(database);
    if (written < 0) await readWritten();
    if (await isDue(load)) await write(signal);
    return false;
  }

  const fault = 'Bulk files could not be written; will retry';
  const running = run({ everyMs: lookEveryMs, event: 'bulk_fault', fault, look }, { clock, log });
  return { ...running, store, figures };
}
