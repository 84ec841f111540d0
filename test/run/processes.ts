// Processes that tests start: waits until they serve, keeps their output, and ends them reliably.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import type { Socket } from 'node:net';
import { within } from './until.ts';

export interface Child {
  process: ChildProcess;
  /** Everything it has printed until now. */
  output(): string;
  /**
   * Settles when it has ended and all its output was read: its exit code, or null if a signal ended it. Waiting only for this promise does not keep a
   * test file from ending, so use it next to another wait.
   */
  ended: Promise<number | null>;
  /** Waits for it to exit, without sending a signal. @returns as `ended`. @throws Error that names it, if it does not end in time. */
  exit(withinMs?: number): Promise<number | null>;
  /** Sends the signal, also to a stopped process, and waits. @throws Error if the process continues and has to be killed. */
  end(signal?: NodeJS.Signals, withinMs?: number): Promise<number | null>;
}

export interface ServingChild extends Child {
  /** Its output when it began to serve. */
  ready: RegExpExecArray;
}

export interface ChildOptions extends Omit<SpawnOptions, 'stdio'> {
  /** Its name, for messages. */
  name: string;
  /** Receives its output as it arrives. */
  onOutput?: (text: string) => void;
}

/** The running processes of this test file; each test file has its own modules. */
const living = new Set<Child>();

/** Ends every process that this test file has started and not ended, including those that do not serve yet. For its last teardown. */
export async function endChildren(): Promise<void> {
  await Promise.all([...living].map((child) => child.end('SIGKILL')));
}

/** Each ends a wait that would never end: a busy machine takes minutes to publish a large folder. */
const endWithinMs = 60_000;
const exitWithinMs = 600_000;
const serveWithinMs = 120_000;

export function startChild(
  program: string,
  words: readonly string[],
  { name, onOutput, ...options }: ChildOptions,
): Child {
  const child = spawn(program, words, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  const onChunk = (chunk: Buffer | Error) => {
    output += chunk.toString();
    onOutput?.(chunk.toString());
  };
  // A process that a test forgets does not keep its test file from ending: the run continues, names the process at its end, and fails.
  child.unref();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', onChunk);
    (stream as Socket).unref();
  }
  child.once('error', onChunk); // the program does not exist; `close` follows
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

/** Starts a program and waits until it reports that it serves. @throws Error with its output if it does not; it has ended then. */
export async function startServing(
  ready: RegExp,
  program: string,
  words: readonly string[],
  options: ChildOptions,
): Promise<ServingChild> {
  const readyMatch = Promise.withResolvers<RegExpExecArray>();
  const child = startChild(program, words, {
    ...options,
    onOutput(text) {
      options.onOutput?.(text);
      const found = ready.exec(child.output());
      if (found !== null) readyMatch.resolve(found);
    },
  });
  const endedEarly = child.ended.then((code) => {
    throw new Error(`${options.name} ended with ${code}`);
  });
  try {
    const serving = Promise.race([readyMatch.promise, endedEarly]);
    return { ...child, ready: await within(`${options.name} serves`, serving, serveWithinMs) };
  } catch (error) {
    await child.end('SIGKILL');
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${why}; it printed:\n${child.output()}`, { cause: error });
  }
}
