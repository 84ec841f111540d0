// The interface of a command: how its arguments are read and its result is printed.
import { createInterface } from 'node:readline/promises';
import { Writable, type Readable } from 'node:stream';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import type { Environment } from './installation.ts';

/** The streams and environment of a command: those of the process, or of a test. */
export interface Terminal {
  env: Environment;
  stdin: Readable & { isTTY?: boolean };
  stdout: Output;
  stderr: Output;
}

export interface Output {
  isTTY?: boolean;
  write(text: string): unknown;
}

export interface Command {
  summary: string;
  usage: string;
  /** The flags it accepts. */
  flags: ParseArgsOptionsConfig;
  /** @throws UsageError if the arguments are wrong; anything else is a failure. */
  run(args: string[], terminal: Terminal): Promise<void>;
}

export class UsageError extends Error {}

/** Parses flags and positional arguments. @throws UsageError on an unknown flag or a missing value. */
export function parseCommandArgs<const Flags extends ParseArgsOptionsConfig>(args: string[], flags: Flags) {
  try {
    return parseArgs({ args, options: flags, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
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
