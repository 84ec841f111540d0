// The command line: the table of commands; each is declared in a file of its own. Exit codes: 0 done, 1 failed, 2 wrong arguments.
import { CommanderError, type CommandUnknownOpts } from 'commander';
import { Failure } from '../kernel/errors.ts';
import { programVersion } from '../kernel/project.ts';
import { misspelledSettings } from '../kernel/settings/misspelled.ts';
import { AlmanacCommand, pathOf } from './almanac-command.ts';
import { UsageError, type DeclareCommand, type Terminal } from './command.ts';
import { plainOutput } from './plain-text.ts';
import { withSettingsFile } from './settings-file.ts';

interface TableEntry {
  name: string;
  summary: string;
  load(): Promise<DeclareCommand>;
}

// Imported on demand: a load need not wait for the gateway's packages.
export const commands: readonly TableEntry[] = [
  {
    name: 'start',
    summary: 'serve: all services in one process, or one service by its name',
    load: async () => (await import('./commands/start.ts')).start,
  },
  {
    name: 'migrate',
    summary: 'migrate the database to the newest schema, and create the roles of the services',
    load: async () => (await import('./commands/migrate.ts')).migrate,
  },
  {
    name: 'seed',
    summary: 'load the demo data and make the demo account, unless they exist',
    load: async () => (await import('./commands/seed.ts')).seed,
  },
  {
    name: 'ingest',
    summary: 'load a CSV file into a dataset',
    load: async () => (await import('./commands/ingest.ts')).ingest,
  },
  {
    name: 'releases',
    summary: 'loads under embargo: list them, show or cancel one, or make one visible now',
    load: async () => (await import('./embargo/releases.ts')).releases,
  },
  {
    name: 'publish',
    summary: 'load the tables of a folder, as its almanac.yml describes them',
    load: async () => (await import('./commands/publish.ts')).publish,
  },
  {
    name: 'sources',
    summary: 'URLs that are fetched by schedule: list them, show or remove one, or fetch one now',
    load: async () => (await import('./commands/sources.ts')).sources,
  },
  {
    name: 'accounts',
    summary: 'create an account, list them, set plan, role or password, mail a reset, disable, enable',
    load: async () => (await import('./commands/accounts.ts')).accounts,
  },
  {
    name: 'keys',
    summary: "create an account's key, list them, revoke or replace one",
    load: async () => (await import('./commands/keys.ts')).keys,
  },
  {
    name: 'usage',
    summary: "show an account's calls of this month",
    load: async () => (await import('./commands/usage.ts')).usage,
  },
  {
    name: 'vintages',
    summary: 'list the vintages of a series, with what changed',
    load: async () => (await import('./commands/history/vintages.ts')).vintages,
  },
  {
    name: 'loads',
    summary: 'list the loads, show one, retract one',
    load: async () => (await import('./commands/history/loads.ts')).loads,
  },
  {
    name: 'series',
    summary: 'set facts of series, declare a break; rename, merge, delete or restore a series',
    load: async () => (await import('./commands/history/series.ts')).series,
  },
  {
    name: 'dashboard',
    summary: 'build the dashboard ahead of the first start',
    load: async () => (await import('./commands/dashboard.ts')).dashboard,
  },
  {
    name: 'backup',
    summary: 'write everything in the database to a file, for restore',
    load: async () => (await import('./commands/backup.ts')).backup,
  },
  {
    name: 'restore',
    summary: 'restore a backup into an empty database, or in place of what a database has',
    load: async () => (await import('./commands/restore.ts')).restore,
  },
  {
    name: 'check',
    summary: 'check everything that the settings name, and report what does not work',
    load: async () => (await import('./commands/check.ts')).check,
  },
  {
    name: 'completion',
    summary: 'print a script that completes commands and flags in your shell',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
];

/**
 * Runs the command given by the arguments. @returns the exit code.
 * @param settingsFile settings that the environment does not have, read if it exists.
 */
export async function main(
  given: readonly string[],
  { settingsFile, ...process }: Terminal & { settingsFile?: string },
): Promise<number> {
  const terminal = { ...process, stdout: plainOutput(process.stdout), bytes: process.stdout };
  const words = given[0] === 'help' ? [...given.slice(1), '--help'] : given;
  const [name] = words;
  let running: CommandUnknownOpts | undefined;
  try {
    terminal.env = withSettingsFile(process.env, settingsFile);
    // The completion is made of the declarations of all commands.
    const isLoaded = (each: string) => each === name || name === 'completion';
    const program = await programOf(words, terminal, isLoaded);
    if (name === undefined) {
      program.outputHelp({ error: true });
      return 2;
    }
    program.hook('preAction', (_program, action) => {
      running = action;
      warnOfMisspelledSettings(terminal);
    });
    // Help for a command that does not exist would be that of the program.
    const isUnknown = !name.startsWith('-') && !commands.some((each) => each.name === name);
    await program.parseAsync(isUnknown ? [name] : words, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode; // of --help and --version
    return report(error, running, terminal);
  }
}

/** The program with all commands. @param isLoaded decides which are declared in full; the others have a name and a summary. */
export async function programOf(
  words: readonly string[],
  terminal: Terminal,
  isLoaded: (name: string) => boolean,
): Promise<AlmanacCommand> {
  const { stdout, stderr } = terminal;
  const program = new AlmanacCommand('almanac');
  program
    .usage('<command> [arguments]')
    .version(programVersion, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show this')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
      getOutHelpWidth: () => stdout.columns ?? 100,
      getErrHelpWidth: () => stderr.columns ?? 100,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText('after', '\nalmanac <command> --help shows details.');
  for (const { name, summary, load } of commands) {
    const command = program.command(name).summary(summary);
    if (isLoaded(name)) (await load())(command, terminal, words);
  }
  return program;
}

function warnOfMisspelledSettings({ env, stderr }: Terminal): void {
  for (const { name, meant } of misspelledSettings(env))
    stderr.write(`almanac: ${name} is not a setting and has no effect; did you mean ${meant}?\n`);
}

/** @param running the command whose action was reached. */
function report(
  error: unknown,
  running: CommandUnknownOpts | undefined,
  { env, stderr: output }: Terminal,
): number {
  const stderr = plainOutput(output);
  const wrong = wrongCallOf(error, running);
  if (wrong !== null) {
    const command = error instanceof UsageError ? error.command : undefined;
    stderr.write(`almanac: ${wrong}\nSee ${command ?? (running ? pathOf(running) : 'almanac')} --help\n`);
    return 2;
  }
  if (error instanceof Failure) {
    stderr.write(`almanac: ${error.message}\n`);
    return 1;
  }
  const message = error instanceof Error ? error.message : String(error);
  stderr.write(`almanac: ${message}\n`);
  if (error instanceof Error && error.cause instanceof Error)
    stderr.write(`  because: ${error.cause.message}\n`);
  if (env['LOG_LEVEL'] === 'debug' && error instanceof Error) stderr.write(`${error.stack}\n`);
  return 1;
}

/** The message for a wrong call, in which a field of the API is named as it was typed: `"as_of"` is `--as-of`. Null: another failure. */
function wrongCallOf(error: unknown, running: CommandUnknownOpts | undefined): string | null {
  if (error instanceof UsageError) return error.message;
  // By its name: the class is imported with the commands that load.
  if (error instanceof Error && error.name === 'IngestFailure')
    return Reflect.get(error, 'code') === 'usage' ? error.message : null;
  if (!(error instanceof Failure) || error.param === undefined) return null;
  const [field = ''] = error.param.replaceAll('_', '-').split('.');
  const isArgument = running?.registeredArguments.some((each) => each.name() === field);
  const typed = running?.options.find(({ long }) => long === `--${field}`)?.long;
  const name = typed ?? (isArgument === true ? `<${field}>` : null);
  const quoted = `"${error.param}"`;
  return name !== null && error.message.includes(quoted) ? error.message.replace(quoted, name) : null;
}
