// almanac restore: replaces everything that the database holds of Almanac by what a backup has.
import { open } from 'node:fs/promises';
import { restoreBackup } from '../backup/restore.ts';
import { UsageError, parseCommandArgs, printJson, type Command } from '../command.ts';
import { withDatabase, withInstallation } from '../installation.ts';
import { createProgress } from '../progress.ts';

const flags = { replace: { type: 'boolean' }, json: { type: 'boolean' } } as const;

export const restore: Command = {
  flags,
  summary: 'bring a backup back into an empty database, or in place of what is there',
  usage: `Usage: almanac restore <file|-> [--replace] [--json]

Restores a backup of this version of Almanac into an empty database, which it creates in DATA_DIR if DATABASE_URL is not set; - is
standard input. Everything is restored, or nothing. Stop all services first.

  --replace  delete what the database has; without it, only an empty database is accepted`,
  async run(args, terminal) {
    const { values, positionals } = parseCommandArgs(args, flags);
    const [file, ...rest] = positionals;
    if (file === undefined || rest.length > 0)
      throw new UsageError('restore takes one file, or - for standard input.');
    const started = performance.now();
    const opened = file === '-' ? undefined : await open(file);
    const progress = createProgress((await opened?.stat())?.size, terminal.stderr);
    const input = opened?.createReadStream() ?? terminal.stdin;
    let bytes = 0;
    input.on('data', (chunk: Buffer | string) => void (bytes += chunk.length)).pause();
    const options = {
      replace: values.replace === true,
      onRows: (rows: number) => progress.show(rows, bytes),
    };
    const summary = await withInstallation(
      terminal.env,
      ({ databaseUrl }) =>
        withDatabase(databaseUrl, { command: 'restore', statementTimeoutMs: 0 }, (database) =>
          restoreBackup(database, input, options),
        ),
      { create: true },
    ).finally(() => {
      progress.clear();
      input.destroy();
    });
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    const { tables, rows, madeAt, load } = summary;
    if (values.json === true) return printJson(terminal, { tables, rows, made_at: madeAt, load, seconds });
    terminal.stdout.write(
      `${rows} rows of ${tables} tables, as of ${madeAt}, ${seconds} s\n` +
        'Empty Redis, if there is one, and start all services again, gateways too.\n',
    );
  },
};
