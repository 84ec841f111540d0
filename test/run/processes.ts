// Processes that tests start: waits until they serve, keeps their output, and ends them reliably.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import type { Socket } from 'node:net';
import { within } from './until.ts';

export interface Child {
  process: ChildProcess;
  /** Everything it has printed until now. */
  output(): string;
  /**
   * Settles when it has ended and all that it printed was read: its exit code, or null where a signal ended it. This promise alone keeps no
   * test file from ending: it is for those who wait for something else too.
   */
  ended: Promise<number | null>;
  /** Waits until it has ended by itself. @returns as `ended`. @throws Error that names it where it does not end by then. */
  exit(withinMs?: number): Promise<number | null>;
  /** Sends the signal, also to one that is stopped, and waits. @throws Error where it goes on and has to be killed. */
  end(signal?: NodeJS.Signals, withinMs?: number): Promise<number | null>;
}

export interface ServingChild extends Child {
  /** What it said when it began to serve. */
  ready: RegExpExecArray;
}

export interface ChildOptions extends Omit<SpawnOptions, 'stdio'> {
  /** For people. */
  name: string;
  /** Is given what it prints, as it comes. */
  onOutput?: (text: string) => void;
}

/** Those that live; of one test file, as each has modules of its own. */
const living = new Set<Child>();

/** Ends every process that this test file has started and not ended, those that do not serve yet as well. For its last teardown. */
export async function endChildren(): Promise<void> {
  await Promise.all([...living].map((child) => child.end('SIGKILL')));
}

const endWithinMs = 60_000;
const exitWithinMs = 120_000;
const serveWithinMs = 120_000;

export function startChild(
  program: string,
  words: readonly string[],
  { name, onOutput, ...options }: ChildOptions,
): Child {
  const child = spawn(program, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const hear = (chunk: Buffer | Error) => {
    output += chunk.toString();
    onOutput?.(chunk.toString());
  };
  // A process that a test forgets does not keep its test file from ending: the run goes on, names it at its end, and fails.
  child.unref();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', hear);
    (stream as Socket).unref();
  }
  child.once('error', hear); // a program that is not there; `close` follows
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const started: Child = {
    process: child,
    output: () => output,
    ended,
    exit: (withinMs = exitWithinMs) => within(`${name} ends`, ended, withinMs),
    async end(signal = 'SIGTERM', withinMs = endWithinMs) {
      child.kill(signal);
      child.kill('SIGCONT');
      try {
        return await within(`${name} ends after ${signal}`, ended, withinMs);
      } catch (error) {
        child.kill('SIGKILL');
        throw error;
      }
    },
  };
  living.add(started);
  void ended.then(() => living.delete(started));
  return started;
}

/** Starts a program and waits until it says that it serves. @throws Error with what it printed where it does not; it has ended then. */
export async function startServing(
  ready: RegExp,
  program: string,
  words: readonly string[],
  options: ChildOptions,
): Promise<ServingChild> {
  const said = Promise.withResolvers<RegExpExecArray>();
  const child = startChild(program, words, {
    ...options,
    onOutput(text) {
      options.onOutput?.(text);
      const found = ready.exec(child.output());
      if (found !== null) said.resolve(found);
    },
  });
  const endedEarly = child.ended.then((code) => {
    throw new Error(`${options.name} ended with ${code}`);
  });
  try {
    const serving = Promise.race([said.promise, endedEarly]);
    return { ...child, ready: await within(`${options.name} serves`, serving, serveWithinMs) };
  } catch (error) {
    await child.end('SIGKILL');
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${why}; it printed:\n${child.output()}`, { cause: error });
  }
}
