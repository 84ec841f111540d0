// Makes backups in a folder by a schedule, and keeps the newest of them.
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { nextInstant } from '../../ingest/entry/schedule.ts';
import type { Clock } from '../../kernel/clock.ts';

export interface ScheduledBackups {
  folder: string;
  /** In the syntax of source schedules: `daily 03:00`. */
  schedule: string;
  /** An IANA name. */
  timeZone: string;
  /** How many files are kept. */
  keep: number;
  clock: Clock;
  /** Ends the wait for the next one; a running backup is finished. */
  signal: AbortSignal;
  /** Makes one; the file appears under its name once it is whole. */
  make(file: string): Promise<void>;
  /** Resolves at the instant, or when the signal comes. */
  waitUntil?: (instant: Date) => Promise<void>;
}

/**
 * Makes a backup whenever one is due, until the signal is aborted. A backup that was missed is made at once, and so is the first.
 * @throws what `make` throws. After a restart the backup is still due and made at once.
 */
export async function runScheduledBackups(options: ScheduledBackups): Promise<void> {
  const { folder, schedule, timeZone, keep, clock, signal, make } = options;
  const { waitUntil = (instant) => pauseUntil(instant, clock, signal) } = options;
  removeUnfinished(folder);
  while (!signal.aborted) {
    const newest = backupsIn(folder).at(-1);
    const due = newest === undefined ? clock.now() : nextInstant(schedule, timeZone, newest.at);
    if (due > clock.now()) {
      await waitUntil(due);
      continue;
    }
    await make(path.join(folder, nameAt(clock.now())));
    for (const { name } of backupsIn(folder).slice(0, -keep)) rmSync(path.join(folder, name));
  }
}

const nameForm = /^almanac-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z\.gz$/;

const nameAt = (instant: Date) => `almanac-${instant.toISOString().slice(0, 19).replaceAll(':', '')}Z.gz`;

/** The files that a schedule has made, oldest first. Files with other names are ignored. */
function backupsIn(folder: string): { name: string; at: Date }[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const [, day, hours, minutes, seconds] = nameForm.exec(name) ?? [];
      return day === undefined ? [] : [{ name, at: new Date(`${day}T${hours}:${minutes}:${seconds}Z`) }];
    })
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

/** Deletes the leftovers of a killed process: only one process makes scheduled backups there. */
function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, own] = /^\.(almanac-.+\.gz)\.\w+\.unfinished$/.exec(name) ?? [];
    if (own !== undefined && nameForm.test(own)) rmSync(path.join(folder, name));
  }
}

/** Rechecks every minute, in case the machine was suspended or its clock was set. */
async function pauseUntil(instant: Date, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    const leftMs = instant.getTime() - clock.now().getTime();
    if (leftMs <= 0 || signal.aborted) return;
    await pause(Math.min(leftMs, 60_000), undefined, { signal }).catch(() => undefined);
  }
}
