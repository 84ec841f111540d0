// almanac restore: replaces the whole database of Almanac by a backup.
import { open } from 'node:fs/promises';
import { restoreBackup } from '../backup/restore.ts';
import { examples, jsonFlag, printJson, type DeclareCommand, type Terminal } from '../command.ts';
import { withDatabase, withInstallation } from '../installation.ts';
import { createProgress } from '../progress.ts';
import { counted } from '../../kernel/text/counted.ts';

export const restore: DeclareCommand = (command, terminal) => {
  command
    .description(
      `Restores a backup of this version of Almanac into an empty database, which it creates in DATA_DIR if DATABASE_URL is not set. Everything is restored, or nothing. Stop all services first.`,
    )
    .argument('<file>', 'a backup; - is standard input')
    .option('--replace', 'delete what the database has; without it, only an empty database is accepted')
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples('almanac restore almanac.gz', 'ssh old-host almanac backup - | almanac restore -'),
    )
    .action((file, { replace, json }) =>
      restoreFrom(terminal, file, { replace: replace === true, asJson: json === true }),
    );
};

async function restoreFrom(
  terminal: Terminal,
  file: string,
  { replace, asJson }: { replace: boolean; asJson: boolean },
): Promise<void> {
  const started = performance.now();
  const opened = file === '-' ? undefined : await open(file);
  const progress = createProgress((await opened?.stat())?.size, terminal.stderr);
  const input = opened?.createReadStream() ?? terminal.stdin;
  let bytes = 0;
  input.on('data', (chunk: Buffer | string) => void (bytes += chunk.length)).pause();
  const options = {
    replace,
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
  if (asJson) return printJson(terminal, { tables, rows, made_at: madeAt, load, seconds });
  terminal.stdout.write(
    `${counted(rows, 'row')} of ${counted(tables, 'table')}, as of ${madeAt}, ${seconds} s\n` +
      'Empty Redis, if there is one, and start all services again, gateways too.\n',
  );
}
