// The record of a running installation: written by `almanac start` into DATA_DIR, for commands in other terminals.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const serving = z.object({ url: z.string(), pid: z.number().int().positive() });

/** The process that serves, and the address of its gateway. */
export type Serving = z.output<typeof serving>;

const fileIn = (dataDir: string) => path.join(dataDir, 'serving.json');

/** Writes the note. @returns removes it. */
export function noteServing(dataDir: string, { url, pid }: Serving): () => void {
  const file = fileIn(dataDir);
  writeFileSync(file, `${JSON.stringify({ url, pid })}\n`);
  return () => rmSync(file, { force: true });
}

/** The process that serves the installation of this directory; undefined if none runs, or it was killed without removing its note. */
export function servingOf(dataDir: string): Serving | undefined {
  let text: string;
  try {
    text = readFileSync(fileIn(dataDir), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const note = serving.safeParse(parsed(text)).data;
  return note !== undefined && isAlive(note.pid) ? note : undefined;
}

/** A process that was killed while writing leaves a truncated note. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // it runs, as another user
  }
}
