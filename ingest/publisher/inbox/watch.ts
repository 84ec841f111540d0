// Watches the folder INBOX_DIR: scans it every two seconds, and processes complete files one after the other, until it is stopped. Only
// polling works on every file system. Several publishers may watch one folder: one processes files at a time.
import path from 'node:path';
import { interruptionsToJson } from '../../load/lock/give-way-to-release.ts';
import { descriptionFile } from '../../entry/entry-schema.ts';
import { readDescription } from '../../entry/entry-file.ts';
import type { LoadedTable } from '../../plan/load-table-file.ts';
import {
  countRejected,
  listFolder,
  listClaimed,
  NotNow,
  prepareFolder,
  type Listing,
  type ClaimedFile,
  type WaitingFile,
} from './folder.ts';
import type { StartedFiles, DoneAs, InboxDeps, Outcome } from './load-file.ts';
import { run, type Running } from '../periodic-job/periodic-job.ts';
import { Sightings } from './complete-files.ts';

export interface Inbox {
  /** The files that this process has processed since it started. */
  readonly counts: Readonly<Record<DoneAs | 'rejected', number>>;
  /** The present state of the folder. @throws Error if it cannot be read. */
  figures(): Promise<{ waiting: number; oldestSeconds: number; rejected: number }>;
}

export interface WatchDeps extends InboxDeps {
  /** `workOn`, in a child process, which ends when the signal aborts. */
  work: (file: WaitingFile | ClaimedFile, started: StartedFiles, signal: AbortSignal) => Promise<Outcome>;
}

const lookEveryMs = 2_000;
/** A file that failed because of a temporary fault is retried after this time. */
const retryAfterMs = 30_000;

/** The watch, one scan at a time. */
export class InboxWatch implements Inbox {
  readonly counts = { loaded: 0, unchanged: 0, 'left out': 0, rejected: 0 };
  readonly #deps: WatchDeps;
  readonly #sightings = new Sightings();
  /** The ids of the files that this process has begun to read. */
  readonly #started = new Set<string>();
  /** Until when a file is not retried, by name, in ms since 1970. */
  readonly #notBefore = new Map<string, number>();
  #reportedLeftAlone = new Set<string>();

  constructor(deps: WatchDeps) {
    this.#deps = deps;
  }

  /**
   * Processes the complete files. @throws Error if the folder or the database is unavailable, or almanac.yml cannot be used; files stay
   * then.
   */
  async look(signal: AbortSignal): Promise<void> {
    const { directory, database, clock } = this.#deps;
    await prepareFolder(directory);
    const nowMs = (await clock.now(database)).getTime();
    const listing = await listFolder(directory);
    this.#reportLeftAlone(listing);
    const complete = this.#sightings.note(listing.files, nowMs);
    const files = [...(await listClaimed(directory)), ...complete].filter(
      ({ name }) => nowMs >= (this.#notBefore.get(name) ?? 0),
    );
    if (files.length === 0) return;
    readDescription(path.join(directory, descriptionFile)); // a fault in it is not a fault of a file
    for (const file of files) {
      if (signal.aborted) return;
      const outcome = await this.#workOn(file, nowMs, signal);
      if (outcome.result === 'busy') return;
    }
  }

  async #workOn(file: WaitingFile | ClaimedFile, nowMs: number, signal: AbortSignal): Promise<Outcome> {
    try {
      const outcome = await this.#deps.work(file, this.#started, signal);
      this.#notBefore.delete(file.name);
      this.#report(file.name, outcome);
      return outcome;
    } catch (error) {
      this.#notBefore.set(file.name, nowMs + retryAfterMs);
      if (!(error instanceof NotNow)) throw error;
      this.#deps.log.info(
        { event: 'inbox_later', file: file.name, reason: error.message },
        'A file of INBOX_DIR is left for later',
      );
      return { result: 'gone' };
    }
  }

  #report(file: string, outcome: Outcome): void {
    if (!('movedTo' in outcome)) return;
    // If another publisher has moved the file, it reports what it found, but only this one knows of its load.
    if (outcome.movedTo === null && outcome.result !== 'loaded') return;
    const { log } = this.#deps;
    this.counts[outcome.result] += 1;
    const line = { event: `inbox_${outcome.result.replace(' ', '_')}`, file, moved_to: outcome.movedTo };
    if (outcome.result === 'rejected') {
      log.warn(
        { ...line, reason: outcome.reason },
        'A file of INBOX_DIR was rejected; its report is beside it',
      );
      return;
    }
    const sum = (count: (table: LoadedTable) => number) =>
      outcome.tables.reduce((total, table) => total + count(table), 0);
    const counts = {
      series: sum(({ series }) => series),
      points_new: sum(({ summary }) => summary.pointsNew),
      points_revised: sum(({ summary }) => summary.pointsRevised),
      points_deleted: sum(({ summary }) => summary.pointsDeleted),
      rows_rejected: sum(({ summary }) => summary.rowsRejected),
    };
    const of = { ...line, ...interruptionsToJson(outcome.interruptions) };
    log.info(outcome.result === 'loaded' ? { ...of, ...counts } : of, 'A file of INBOX_DIR was dealt with');
  }

  /** Logged once per file, as long as it exists. */
  #reportLeftAlone({ leftAlone }: Listing): void {
    for (const { name, reason } of leftAlone)
      if (!this.#reportedLeftAlone.has(name))
        this.#deps.log.warn(
          { event: 'inbox_left_alone', file: name, reason },
          'INBOX_DIR has something that is not loaded',
        );
    this.#reportedLeftAlone = new Set(leftAlone.map(({ name }) => name));
  }

  async figures(): Promise<{ waiting: number; oldestSeconds: number; rejected: number }> {
    const { directory, database, clock } = this.#deps;
    const nowMs = (await clock.now(database)).getTime();
    const { files } = await listFolder(directory);
    const claimed = await listClaimed(directory);
    const since = [
      ...files.map(({ name }) => this.#sightings.firstMs(name) ?? nowMs),
      ...claimed.map(({ claimedAt }) => claimedAt.getTime()),
    ];
    const oldestMs = Math.max(0, ...since.map((ms) => nowMs - ms));
    return {
      waiting: since.length,
      oldestSeconds: oldestMs / 1000,
      rejected: await countRejected(directory),
    };
  }
}

export function startInbox(deps: WatchDeps): Inbox & Running {
  const watch = new InboxWatch(deps);
  const fault = 'INBOX_DIR cannot be read; its files stay, and it is tried again';
  const look = (signal: AbortSignal) => watch.look(signal).then(() => false);
  const working = run({ everyMs: lookEveryMs, event: 'inbox_fault', fault, look }, deps);
  return { counts: watch.counts, figures: () => watch.figures(), ...working };
}
