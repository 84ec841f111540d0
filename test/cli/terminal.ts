// Runs the command line within the process of a test, through the entry that almanac.ts uses: arguments in, exit code and output out.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { ExecutionContext } from 'ava';
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
 * Runs `almanac …`. @param more environment variables and standard input; isTerminal: the input is a terminal; isScreen: the output is a
 * terminal.
 */
export type RunCommand = (
  words: readonly string[],
  more?: {
    env?: Readonly<Record<string, string>>;
    stdin?: string | Buffer;
    isTerminal?: boolean;
    isScreen?: boolean;
  },
) => Promise<Ran>;

/** An environment with only settings: the database, and a separate directory for everything else. */
export function settingsOf(databaseUrl: string): Record<string, string> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  return {
    ...{ DATABASE_URL: databaseUrl, DATA_DIR: directory, IDENTITY_SECRET: testIdentitySecret },
    PUBLISHER_PORT: '0', // several publishers run at the same time
  };
}

/** `almanac ingest` of a file of daily series that need not exist. */
export const ingestWords = (file: string, ...more: readonly string[]): string[] => [
  ...['ingest', 'observations', file, '--create', '--set', 'frequency=daily,unit=One,source=Tests'],
  ...more,
];

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

/** Runs commands by `run`, and notes by name with which flags each was run and ended with 0. */
export function exercising(run: RunCommand): {
  almanac: RunCommand;
  exercised: ReadonlyMap<string, ReadonlySet<string>>;
} {
  const exercised = new Map<string, Set<string>>();
  return {
    exercised,
    async almanac(words, more) {
      const ran = await run(words, more);
      const command = (await declaredCommands()).find(({ path }) =>
        path.every((word, i) => words[i] === word),
      );
      if (ran.code !== 0 || command === undefined) return ran;
      const name = command.path.join(' ');
      const seen = exercised.get(name) ?? new Set();
      for (const word of words) if (word.startsWith('--')) seen.add(word);
      exercised.set(name, seen);
      return ran;
    },
  };
}

/** The one JSON document that a command prints. */
export function documentOf(t: ExecutionContext, { code, stdout, stderr }: Ran): Record<string, unknown> {
  t.is(code, 0, stderr);
  t.is(stderr, '');
  t.regex(stdout, /^\{.*\}\n$/);
  return JSON.parse(stdout) as Record<string, unknown>;
}

export interface Declared {
  /** The words that call it. */
  path: readonly string[];
  /** Its own flags; every command also has --help. */
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
