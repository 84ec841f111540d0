// The interface of a command: how it is declared, reads secrets, and prints its result.
import { createInterface } from 'node:readline/promises';
import { Writable, type Readable } from 'node:stream';
import type { Command } from 'commander';
import type { Environment } from './installation.ts';

/** The streams and environment of a command: those of the process, or of a test. */
export interface Terminal {
  env: Environment;
  stdin: Readable & { isTTY?: boolean };
  stdout: Output;
  /** Standard output for binary data. */
  bytes?: Output;
  stderr: Output;
  /** Called when a service has started, before it reports that it serves. */
  started?(): void;
}

export interface Output {
  isTTY?: boolean;
  /** The width of a terminal. */
  columns?: number;
  write(text: string): unknown;
}

/**
 * Declares a command: its arguments, flags, examples and action, or its subcommands. It has its name and summary already.
 * @param words those that follow `almanac`.
 */
export type DeclareCommand = (command: Command, terminal: Terminal, words: readonly string[]) => void;

/** The flag of every command that prints a result. */
export const jsonFlag = ['--json', 'print one line of JSON, for machines'] as const;

/** The examples at the end of a command's help. @param lines commands, from `almanac` on; a test parses them. */
export function examples(...lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n');
}

/** Reads a flag that may be repeated. */
export function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}

/** Wrong arguments. The message is one line, optionally followed by the whole working command on lines of its own. */
export class UsageError extends Error {
  /** The command whose help has more; the running command unless given. */
  readonly command: string | undefined;

  constructor(message: string, command?: string) {
    super(message);
    this.command = command;
  }
}

/** Reads one line from the terminal, without echo, or the first line of standard input. @throws UsageError if there is none. */
export async function readSecret({ stdin, stderr }: Terminal, question: string): Promise<string> {
  const isTerminal = stdin.isTTY === true;
  if (isTerminal) stderr.write(question);
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: unseen, terminal: isTerminal });
  try {
    for await (const line of lines) return line;
  } finally {
    lines.close();
    if (isTerminal) stderr.write('\n');
  }
  throw new UsageError('Nothing came on standard input.');
}

/** Prints one line of JSON, for machines. */
export function printJson({ stdout }: Terminal, value: unknown): void {
  stdout.write(`${JSON.stringify(value)}\n`);
}

/** Prints columns padded to their widest cell, under a heading; a text if there are no rows. */
export function printTable(
  { stdout }: Terminal,
  heading: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  if (rows.length === 0) {
    stdout.write('none\n');
    return;
  }
  const widths = heading.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  for (const row of [heading, ...rows]) {
    const line = row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ');
    stdout.write(`${line.trimEnd()}\n`);
  }
}
