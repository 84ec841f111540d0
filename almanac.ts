// The command line: one table of commands; each command's file is its whole story.
// Exit codes: 0 done, 1 failed, 2 the words were wrong.
import { UsageError, type Command } from './cli/command.ts';
import { Failure } from './kernel/errors.ts';

// Each is read when it is asked for: a load need not wait for the gateway's packages.
const commands: Record<string, () => Promise<Command>> = {
  start: async () => (await import('./cli/start.ts')).start,
  migrate: async () => (await import('./cli/migrate.ts')).migrate,
  seed: async () => (await import('./cli/seed.ts')).seed,
  ingest: async () => (await import('./cli/ingest.ts')).ingest,
  accounts: async () => (await import('./cli/accounts.ts')).accounts,
  keys: async () => (await import('./cli/keys.ts')).keys,
  usage: async () => (await import('./cli/usage.ts')).usage,
  vintages: async () => (await import('./cli/vintages.ts')).vintages,
  check: async () => (await import('./cli/check.ts')).check,
};

// Not left to end by itself: a job queue that is stopped in the middle of its start leaves timers behind, with which a start that
// failed went on for ever, deaf to signals (seen on a busy machine, 2026-11-21).
process.exit(await main(process.argv.slice(2)));

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help') {
    process.stdout.write(await overview());
    return name === undefined ? 2 : 0;
  }
  const command = Object.hasOwn(commands, name) ? await commands[name]?.() : undefined;
  if (command === undefined) {
    process.stderr.write(`almanac: there is no command "${name}".\n\n${await overview()}`);
    return 2;
  }
  if (args.includes('--help')) {
    process.stdout.write(`${command.usage}\n`);
    return 0;
  }
  try {
    await command.run(args);
    return 0;
  } catch (error) {
    return report(error, command);
  }
}

function report(error: unknown, command: Command): number {
  if (error instanceof UsageError) {
    process.stderr.write(`almanac: ${error.message}\n\n${command.usage}\n`);
    return 2;
  }
  if (error instanceof Failure) {
    process.stderr.write(`almanac: ${error.message}\n`);
    return 1;
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`almanac: ${message}\n`);
  if (error instanceof Error && error.cause instanceof Error)
    process.stderr.write(`  because: ${error.cause.message}\n`);
  if (process.env['LOG_LEVEL'] === 'debug' && error instanceof Error)
    process.stderr.write(`${error.stack}\n`);
  return 1;
}

async function overview(): Promise<string> {
  const lines = await Promise.all(
    Object.entries(commands).map(async ([name, read]) => `  ${name.padEnd(10)} ${(await read()).summary}`),
  );
  return `Usage: almanac <command> [arguments]\n\n${lines.join('\n')}\n\nalmanac <command> --help tells more.\n`;
}
