// Runs the command line within the process of a test, through the entry that almanac.ts uses: arguments in, exit code and output out.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { CommandUnknownOpts } from 'commander';
import { main, programOf } from '../../cli/main.ts';
import type { Terminal } from '../../cli/command.ts';
import { testIdentitySecret } from '../services/harness.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs `almanac …`. @param more of the environment, and what stands on standard input; isTerminal: somebody types it; isScreen: somebody reads
 * the output as it is printed.
 */
export type RunCommand = (
  words: readonly string[],
  more?: { env?: Readonly<Record<string, string>>; stdin?: string; isTerminal?: boolean; isScreen?: boolean },
) => Promise<Ran>;

/** An environment of settings alone: the database, and a directory of its own for everything else. */
export function settingsOf(databaseUrl: string): Record<string, string> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  return {
    ...{ DATABASE_URL: databaseUrl, DATA_DIR: directory, IDENTITY_SECRET: testIdentitySecret },
    PUBLISHER_PORT: '0', // several publishers run beside each other
  };
}

export function commandLine(settings: Readonly<Record<string, string>>): RunCommand {
  return async (words, { env = {}, stdin = '', isTerminal = false, isScreen = false } = {}) => {
    const ran: Ran = { code: -1, stdout: '', stderr: '' };
    ran.code = await main(words, {
      env: { ...settings, ...env },
      stdin: Object.assign(Readable.from([Buffer.from(stdin)]), { isTTY: isTerminal }),
      stdout: { isTTY: isScreen, write: (text) => (ran.stdout += text) },
      stderr: { isTTY: isScreen, write: (text) => (ran.stderr += text) },
    });
    return ran;
  };
}

export interface Declared {
  /** The words that call it. */
  path: readonly string[];
  /** Its own; every command has --help beside them. */
  flags: readonly string[];
  command: CommandUnknownOpts;
}

const nowhere: Terminal = {
  env: {},
  stdin: Readable.from([]),
  stdout: { write: () => undefined },
  stderr: { write: () => undefined },
};

/** All commands that do something: those that have subcommands are left out. */
export async function declaredCommands(): Promise<Declared[]> {
  return leavesOf(await programOf([], nowhere, () => true), []);
}

function leavesOf(command: CommandUnknownOpts, path: readonly string[]): Declared[] {
  if (command.commands.length === 0)
    return [{ path, flags: command.options.map(({ long }) => long ?? ''), command }];
  return command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));
}
