// Runs a program of the system from the project, and fails with all that it printed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as readText } from 'node:stream/consumers';

/** @param options.cwd where it runs. @returns its standard output. @throws Error with its output if it does not exit with 0. */
export async function runProgram(
  program: string,
  words: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<string> {
  const child = spawn(program, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([
    readText(child.stdout),
    readText(child.stderr),
    closed,
  ]);
  if (code === 0) return stdout;
  throw new Error(`${[program, ...words].join(' ')} ended with ${code}:\n${stdout}${stderr}`);
}
