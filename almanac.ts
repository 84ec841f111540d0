// The command line: one table of commands; each command's file is its whole story.
// Exit codes: 0 done, 1 failed, 2 the words were wrong.
import { UsageError, type Command } from './cli/command.ts';
import { accounts } from './cli/accounts.ts';
import { check } from './cli/check.ts';
import { ingest } from './cli/ingest.ts';
import { keys } from './cli/keys.ts';
import { migrate } from './cli/migrate.ts';
import { seed } from './cli/seed.ts';
import { start } from './cli/start.ts';
import { usage } from './cli/usage.ts';
import { vintages } from './cli/vintages.ts';
import { Failure } from './kernel/errors.ts';

const commands: Record<string, Command> = {
  start,
  migrate,
  seed,
  ingest,
  accounts,
  keys,
  usage,
  vintages,
  check,
};

process.exitCode = await main(process.argv.slice(2));

async function main([name, ...args]: string[]): Promise<number> {
  if (name === undefined || name === 'help' || name === '--help') {
    process.stdout.write(overview());
    return name === undefined ? 2 : 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    process.stderr.write(`almanac: there is no command "${name}".\n\n${overview()}`);
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

function overview(): string {
  const lines = Object.entries(commands).map(([name, command]) => `  ${name.padEnd(10)} ${command.summary}`);
  return `Usage: almanac <command> [arguments]\n\n${lines.join('\n')}\n\nalmanac <command> --help tells more.\n`;
}
