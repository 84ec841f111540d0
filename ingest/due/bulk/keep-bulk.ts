// Keeps the bulk files up with the data: looks for loads, waits until they pause, and has the files written. Hides that a write never takes more
// than a part of the time, and that what was taken back does not wait.
import { readManifest } from '../../../domain/bulk/manifest.ts';
import { readNewestWithdrawal } from '../../../domain/bulk/withdrawals.sql.ts';
import type { Database } from '../../../kernel/database.ts';
import type { Log } from '../../../kernel/log/log.ts';
import { readNewestLoad } from '../../bulk/bulk.sql.ts';
import type { BulkSettings } from '../../bulk/write-bulk.ts';
import type { Apart } from '../apart/run-apart.ts';
import { run, type Pauses, type Running } from '../runner/runner.ts';
import type { BulkTasks } from './write-apart.ts';

export interface KeepBulk extends BulkSettings {
  /** How long no load may have come before files are written; a minute of loads is enough, whether or not they pause. Default: 5 s. */
  quietMs?: number;
}

export interface KeepBulkDeps {
  database: Database;
  clock: Pauses;
  log: Log;
  apart: Apart<BulkTasks>;
}

const lookEveryMs = 1_000;
const quietUsualMs = 5_000;
const waitMostMs = 60_000;
/** A write is followed by a pause so many times as long. */
const pauseTimes = 4;
const afterFaultMs = 60_000;
/** Files that have been kept for their time are removed, although no load came. */
const sweepEveryMs = 3_600_000;

export function startBulk(deps: KeepBulkDeps, { quietMs = quietUsualMs, ...settings }: KeepBulk): Running {
  const { database, clock, log, apart } = deps;
  let written = -1; // the files are as of this load
  let writtenAtMs = -Infinity;
  let notBeforeMs = -Infinity;
  let seen = { load: -1, atMs: 0, firstAtMs: 0 };

  async function isDue(load: number): Promise<boolean> {
    const nowMs = performance.now();
    if (load === written) return nowMs - writtenAtMs >= sweepEveryMs;
    if (seen.load !== load)
      seen = { load, atMs: nowMs, firstAtMs: seen.load <= written ? nowMs : seen.firstAtMs };
    if ((await readNewestWithdrawal(database)) > written && written >= 0) return true;
    if (nowMs < notBeforeMs) return false;
    return nowMs - seen.atMs >= quietMs || nowMs - seen.firstAtMs >= waitMostMs;
  }

  async function look(signal: AbortSignal): Promise<boolean> {
    const load = await readNewestLoad(database);
    if (written < 0) written = (await readManifest(settings.directory))?.load ?? -1;
    if (!(await isDue(load))) return false;
    const beganAtMs = performance.now();
    notBeforeMs = beganAtMs + afterFaultMs;
    const files = await apart.run('write-bulk', settings, { signal });
    const endedAtMs = performance.now();
    notBeforeMs = endedAtMs + pauseTimes * (endedAtMs - beganAtMs);
    if (files === null) return false;
    written = (await readManifest(settings.directory))?.load ?? -1;
    writtenAtMs = endedAtMs;
    const ms = Math.round(endedAtMs - beganAtMs);
    if (files > 0) log.info({ event: 'bulk_written', files, load: written, ms }, 'Bulk files were written');
    return false;
  }

  const fault = 'Bulk files could not be written; it will be tried again';
  return run({ everyMs: lookEveryMs, event: 'bulk_fault', fault, look }, { clock, log });
}
