// almanac backup: writes everything that the database holds of Almanac to a file or to standard output.
import { renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import type { Database } from '../../kernel/database.ts';
import { writeBackup, type BackupSummary } from '../backup/backup.ts';
import { UsageError, examples, jsonFlag, type DeclareCommand, type Terminal } from '../command.ts';
import { withDatabase, withInstallation } from '../installation.ts';
import { createProgress } from '../progress.ts';

export const backup: DeclareCommand = (command, terminal) => {
  command
    .description(
      `Writes all data, accounts, keys, usage and webhooks as of one moment, while services and loads go on. The file appears under its name once it is whole, and only its owner may read it. It needs the DATABASE_URL of the owner. Secrets of settings, mails that wait, and what gateways have not settled yet are not in the database, see docs/operations.md.`,
    )
    .argument('<file>', 'the file to write; - is standard output')
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples('almanac backup almanac.gz', 'almanac backup - | age -r age1… > almanac.gz.age'),
    )
    .action((file, { json }) => backUp(terminal, file, json === true));
};

async function backUp(terminal: Terminal, file: string, asJson: boolean): Promise<void> {
  const started = performance.now();
  // Beside the backup itself, standard output has no place for what is told.
  const told = file === '-' ? terminal.stderr : terminal.stdout;
  const progress = createProgress(undefined, terminal.stderr);
  const summary = await withInstallation(terminal.env, ({ databaseUrl }) =>
    withDatabase(databaseUrl, { command: 'backup', statementTimeoutMs: 0 }, (database) =>
      file === '-'
        ? writeBackup(database, standardOutput(terminal), (rows) => progress.show(rows, 0))
        : toFile(database, file, (rows) => progress.show(rows, 0)),
    ),
  ).finally(() => progress.clear());
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  const { tables, rows, bytes, migration } = summary;
  told.write(
    asJson
      ? `${JSON.stringify({ file, tables, rows, bytes, migration, seconds })}\n`
      : `${rows} rows of ${tables} tables in ${bytes} bytes, ${seconds} s\n`,
  );
}

/** Writes beside the file first: whoever finds the file finds a whole backup. */
async function toFile(
  database: Database,
  file: string,
  onRows: (rows: number) => void,
): Promise<BackupSummary> {
  const unfinished = path.join(path.dirname(file), `.${path.basename(file)}.unfinished`);
  const opened = await open(unfinished, 'w', 0o600);
  try {
    // Flushed to the disk before it is closed: after a power failure, too, the name stands for a whole backup.
    const summary = await writeBackup(database, opened.createWriteStream({ flush: true }), onRows);
    renameSync(unfinished, file);
    return summary;
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** Standard output, which others may still need afterwards. */
function standardOutput({ bytes }: Terminal): Writable {
  if (!(bytes instanceof Writable)) throw new UsageError('- needs a standard output that takes bytes.');
  bytes.once('error', () => undefined); // the reader has gone: the write fails as well, and reports it
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => void bytes.write(chunk, done),
  });
}
