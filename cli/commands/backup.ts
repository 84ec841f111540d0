// almanac backup: writes the whole database of Almanac to a file or to standard output, once or by a schedule.
import { createWriteStream, openSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { beforeSignalEnds } from '../../embedded/stop-on-signal.ts';
import { randomBase32 } from '../../kernel/credentials/base32.ts';
import type { Database } from '../../kernel/database.ts';
import { writeBackup, type BackupSummary } from '../backup/backup.ts';
import { UsageError, examples, jsonFlag, type DeclareCommand, type Terminal } from '../command.ts';
import { runScheduledBackups } from '../backup/scheduled.ts';
import { withDatabase, withInstallation } from '../installation.ts';
import { schedulePattern, scheduleRule } from '../../ingest/entry/schedule.ts';
import { systemClock } from '../../kernel/clock.ts';
import { readSettings } from '../../kernel/settings/settings.ts';
import { createProgress } from '../progress.ts';
import { counted } from '../../kernel/text/counted.ts';

export const backup: DeclareCommand = (command, terminal) => {
  command
    .description(
      `Writes all data, accounts, keys, usage and webhooks as of one moment, while services and loads continue to run. The file appears under its name once it is whole, and only its owner may read it. It needs the DATABASE_URL of the owner. Secrets of settings, e-mails that wait, and usage that gateways have not reported yet are not in the database, see docs/operations.md.`,
    )
    .argument('<file>', 'the file to write; - is standard output; with --schedule, the folder')
    .option(
      '--schedule <times>',
      'make one whenever it is due, such as "daily 03:00" or "weekly sun 03:00", until SIGTERM; one that was missed, and the first, at once. Ends with 1 if one fails',
    )
    .option('--keep <number>', 'with --schedule: how many files are kept; default: 7')
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples(
        'almanac backup almanac.gz',
        'almanac backup - | age -r age1… > almanac.gz.age',
        'almanac backup /backups --schedule "daily 03:00" --keep 14',
      ),
    )
    .action(async (file, { json = false, schedule, keep }) => {
      if (schedule !== undefined) return backUpBySchedule(terminal, { folder: file, schedule, keep, json });
      if (keep !== undefined) throw new UsageError('--keep goes with --schedule.');
      return backUp(terminal, file, { json, isEndedBySignals: true });
    });
};

interface BackupWish {
  json: boolean;
  label?: string;
  isEndedBySignals?: boolean;
}

async function backUpBySchedule(
  terminal: Terminal,
  {
    folder,
    schedule,
    keep = '7',
    json,
  }: { folder: string; schedule: string; keep?: string | undefined; json: boolean },
): Promise<void> {
  if (!schedulePattern.test(schedule)) throw new UsageError(`--schedule ${scheduleRule}.`);
  if (!/^[1-9]\d{0,3}$/.test(keep)) throw new UsageError('--keep must be a whole number from 1 to 9999.');
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`There is no folder ${folder}.`);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
  try {
    await runScheduledBackups({
      ...{ folder, schedule, keep: Number(keep), clock: systemClock, signal: stopping.signal },
      timeZone: readSettings(terminal.env).seriesTimeZone,
      make: (file) => backUp(terminal, file, { json, label: `${file}: ` }),
    });
  } finally {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, stop);
  }
}

/** @param label the beginning of the line. @param isEndedBySignals a signal ends the command at once, also while it writes. */
async function backUp(
  terminal: Terminal,
  file: string,
  { json: asJson, label = '', isEndedBySignals = false }: BackupWish,
): Promise<void> {
  const started = performance.now();
  if (file !== '-') requireFileName(file);
  // Standard output has the backup, so messages go elsewhere.
  const output = file === '-' ? terminal.stderr : terminal.stdout;
  const progress = createProgress(undefined, terminal.stderr);
  const summary = await withInstallation(terminal.env, ({ databaseUrl }) =>
    withDatabase(databaseUrl, { command: 'backup', statementTimeoutMs: 0 }, (database) =>
      file === '-'
        ? writeBackup(database, standardOutput(terminal), (rows) => progress.show(rows, 0))
        : toFile(database, { file, isEndedBySignals }, (rows) => progress.show(rows, 0)),
    ),
  ).finally(() => progress.clear());
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  const { tables, rows, bytes, migration } = summary;
  output.write(
    asJson
      ? `${JSON.stringify({ file, tables, rows, bytes, migration, seconds })}\n`
      : `${label}${counted(rows, 'row')} of ${counted(tables, 'table')} in ${counted(bytes, 'byte')}, ${seconds} s\n`,
  );
}

/** @throws UsageError if something else has the name, such as a folder or a device: the backup would take its place. */
function requireFileName(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== false) return;
  throw new UsageError(`${file} is not a file. Name a file, or - for standard output.`);
}

/** Writes to a temporary file of its own beside the target first: the file is always a whole backup, also if two processes write it at once. */
async function toFile(
  database: Database,
  { file, isEndedBySignals }: { file: string; isEndedBySignals: boolean },
  onRows: (rows: number) => void,
): Promise<BackupSummary> {
  const unfinished = path.join(path.dirname(file), `.${path.basename(file)}.${randomBase32(8)}.unfinished`);
  // Before the file is created, and that without waiting: no signal may come between.
  const stopListening = isEndedBySignals
    ? beforeSignalEnds(() => rmSync(unfinished, { force: true }))
    : undefined;
  try {
    const fd = openSync(unfinished, 'wx', 0o600);
    // Flushed to the disk before it is closed: even after a power failure the name refers to a whole backup.
    const summary = await writeBackup(database, createWriteStream(unfinished, { fd, flush: true }), onRows);
    renameSync(unfinished, file);
    return summary;
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  } finally {
    stopListening?.();
  }
}

/** Standard output, which stays open for others. */
function standardOutput({ bytes }: Terminal): Writable {
  if (!(bytes instanceof Writable)) throw new UsageError('- needs a standard output that takes bytes.');
  bytes.once('error', () => undefined); // the reader has gone: the write fails as well, and reports it
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => void bytes.write(chunk, done),
  });
}
