// The command line: the table of commands; each is implemented in a file of its own. Hides how failures are printed.
// Exit codes: 0 done, 1 failed, 2 wrong arguments.
import { UsageError, type Command, type Terminal } from './command.ts';
import { Failure } from '../kernel/errors.ts';
import { misspelledSettings } from '../kernel/settings.ts';

// Imported on demand: a load need not wait for the gateway's packages.
export const commands: Record<string, () => Promise<Command>> = {
  start: async () => (await import('./commands/start.ts')).start,
  migrate: async () => (await import('./commands/migrate.ts')).migrate,
  seed: async () => (await import('./commands/seed.ts')).seed,
  ingest: async () => (await import('./commands/ingest.ts')).ingest,
  accounts: async () => (await import('./commands/accounts.ts')).accounts,
  keys: async () => (await import('./commands/keys.ts')).keys,
  usage: async () => (await import('./commands/usage.ts')).usage,
  vintages: async () => (await import('./commands/vintages.ts')).vintages,
  dashboard: async () => (await import('./commands/dashboard.ts')).dashboard,
  backup: async () => (await import('./commands/backup.ts')).backup,
  restore: async () => (await import('./commands/restore.ts')).restore,
  check: async () => (await import('./commands/check.ts')).check,
};

/** Runs the command given by the arguments. @returns the exit code. */
export async function main([name, ...args]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help') {
    terminal.stdout.write(await overview());
    return name === undefined ? 2 : 0;
  }
  const command = Object.hasOwn(commands, name) ? await commands[name]?.() : undefined;
  if (command === undefined) {
    terminal.stderr.write(`almanac: there is no command "${name}".\n\n${await overview()}`);
    return 2;
  }
  if (args.includes('--help')) {
    terminal.stdout.write(`${command.usage}\n`);
    return 0;
  }
  for (const { name: variable, meant } of misspelledSettings(terminal.env))
    terminal.stderr.write(
      `almanac: ${variable} is not a setting and has no effect; did you mean ${meant}?\n`,
    );
  try {
    await command.run(args, terminal);
    return 0;
  } catch (error) {
    return report(error, command, terminal);
  }
}

function report(error: unknown, command: Command, { env, stderr }: Terminal): number {
  if (error instanceof UsageError) {
    stderr.write(`almanac: ${error.message}\n\n${command.usage}\n`);
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

async function overview(): Promise<string> {
  const lines = await Promise.all(
    Object.entries(commands).map(async ([name, read]) => `  ${name.padEnd(10)} ${(await read()).summary}`),
  );
  return `Usage: almanac <command> [arguments]\n\n${lines.join('\n')}\n\nalmanac <command> --help shows details.\n`;
}
