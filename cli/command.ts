// What every command of the command line is, and how it reads its words and prints its answer.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

export interface Command {
  summary: string;
  usage: string;
  /** @throws UsageError where the words are wrong; anything else is a failure. */
  run(args: string[]): Promise<void>;
}

export class UsageError extends Error {}

/** Reads flags and positional words. @throws UsageError on an unknown flag or a missing value. */
export function readWords<const Options extends ParseArgsOptionsConfig>(args: string[], options: Options) {
  try {
    return parseArgs({ args, options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** One line from the terminal, which does not show it, or the first line of standard input. @throws UsageError where there is none. */
export async function readSecret(question: string): Promise<string> {
  const isTerminal = process.stdin.isTTY;
  if (isTerminal) process.stderr.write(question);
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: unseen, terminal: isTerminal });
  try {
    for await (const line of lines) return line;
  } finally {
    lines.close();
    if (isTerminal) process.stderr.write('\n');
  }
  throw new UsageError('Nothing came on standard input.');
}

/** One line of JSON, for machines. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Columns padded to their widest cell, under a heading; a word where there are no rows. */
export function printTable(heading: readonly string[], rows: readonly (readonly string[])[]): void {
  if (rows.length === 0) {
    process.stdout.write('none\n');
    return;
  }
  const widths = heading.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  for (const row of [heading, ...rows]) {
    const line = row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ');
    process.stdout.write(`${line.trimEnd()}\n`);
  }
}
