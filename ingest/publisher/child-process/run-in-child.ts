// Runs work on untrusted or large files in a child process, with limits of memory and time, one task at a time. If a file crashes that
// process, the caller continues, and a publisher makes its releases on time.
import { fork, type ChildProcess } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { descriptorOf, type Log } from '../../../kernel/log/log.ts';
import { fileMemoryMbByDefault, fileSecondsByDefault } from '../../../kernel/settings/limits.ts';
import { fromSent, endOfTasks, type Order, type Sent, type TaskEnd } from './messages.ts';
import type { TaskTypes } from './task.ts';

export interface RunOptions<Event> {
  /** The time limit of the task, without the time in the queue; default: unlimited while the task makes progress. */
  withinMs?: number;
  accountId?: string;
  /** Kills the process; its uncommitted work is rolled back. */
  signal?: AbortSignal;
  /** Called with the events that the task emits. */
  onEvent?: (event: Event) => void;
}

/** @typeParam Tasks the tasks of the process, by name. */
export interface ChildRunner<Tasks extends TaskTypes<Tasks>> {
  /**
   * Runs the task after those that were requested earlier.
   * @throws ProcessEnded; what the task throws; the reason of the signal.
   */
  run<Name extends keyof Tasks & string>(
    task: Name,
    given: Tasks[Name]['given'],
    options: RunOptions<Tasks[Name]['event']>,
  ): Promise<Tasks[Name]['answer']>;
  /** Stops the running task. */
  close(): Promise<void>;
}

export interface ChildRunnerOptions {
  databaseUrl: string;
  applicationName: string;
  log: Log;
  limits?: ReadLimits | undefined;
  /** The process inherits only the variables of PostgreSQL's driver, such as PGPASSWORD. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** One process runs all tasks: starting one takes as long as loading a small file. Default: a process per task. */
  isReused?: boolean;
  /** Disables logging. */
  isQuiet?: boolean;
  /** Default: 10, behind the publisher. */
  niceness?: number;
}

/** The limits of a process that reads a file. */
export interface ReadLimits {
  /** The limit of its heap. */
  memoryMb: number;
  /** For one step that blocks the process, such as reading a workbook. */
  stepSeconds: number;
}

/** The defaults of the settings FILE_MEMORY_MB and FILE_SECONDS. */
const readLimitsUsual: ReadLimits = {
  memoryMb: fileMemoryMbByDefault,
  stepSeconds: fileSecondsByDefault,
};

/** The process exited without a reply: it ran out of memory, or took too long. The file is at fault. */
export class ProcessEnded extends Error {
  /** The advice for the owner of the file. */
  readonly advice =
    'Split it, save the sheets of a workbook as CSV, or raise the limits FILE_MEMORY_MB and FILE_SECONDS.';
}

const stderrCharactersMax = 2_000;
const youngMb = 8;

export function createChildRunner<Tasks extends TaskTypes<Tasks>>(
  options: ChildRunnerOptions,
): ChildRunner<Tasks> {
  const { databaseUrl, applicationName, niceness = 10 } = options;
  let last: Promise<unknown> = Promise.resolve();
  let reusedWorker: Worker | undefined;
  const closing = new AbortController();
  return {
    async run(task, given, { accountId, signal, withinMs, onEvent }) {
      const shared = { databaseUrl, applicationName, niceness, isQuiet: options.isQuiet === true };
      const order: Order = { ...shared, task, given, accountId: accountId ?? null };
      const stop = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
      const done = last.then(async () => {
        stop.throwIfAborted();
        const worker = reusedWorker?.isAlive() === true ? reusedWorker : startWorker(options);
        reusedWorker = options.isReused === true ? worker : undefined;
        try {
          return await worker.perform(order, {
            withinMs,
            stop,
            onEvent,
          });
        } finally {
          if (reusedWorker === undefined) await worker.end();
        }
      });
      last = done.catch(() => undefined);
      return done;
    },
    async close() {
      closing.abort(new Error('The publisher is stopping.'));
      await last;
      await reusedWorker?.end();
    },
  };
}

interface Limits {
  withinMs: number | undefined;
  stop: AbortSignal;
  onEvent: ((event: unknown) => void) | undefined;
}

interface Worker {
  isAlive(): boolean;
  /** @throws ProcessEnded; what the task throws; the reason of `stop`. */
  perform(order: Order, limits: Limits): Promise<unknown>;
  /** Resolves when the process has exited. */
  end(): Promise<void>;
}

function startWorker({ limits = readLimitsUsual, env, log }: ChildRunnerOptions): Worker {
  const { memoryMb, stepSeconds } = limits;
  const child = fork(new URL('../child-process-main.ts', import.meta.url), {
    // Not this process's own flags: with `--eval` the child would run that program. The young generation gets half the usual size: a tenth
    // less memory, at no cost for a folder of small files.
    execArgv: [`--max-old-space-size=${memoryMb}`, `--max-semi-space-size=${youngMb}`],
    env: childEnv(env),
    stdio: ['ignore', descriptorOf(log), 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  let stderr = '';
  child.stderr
    ?.setEncoding('utf8')
    .on('data', (text: string) => (stderr = (stderr + text).slice(-stderrCharactersMax)));
  const ended = endOf(child);
  const isAlive = () => child.exitCode === null && child.signalCode === null && child.connected;
  return {
    isAlive,
    async perform(order, { withinMs, stop, onEvent }) {
      const watched = watchTask(child, { withinMs, stop, stepMs: stepSeconds * 1_000, onEvent });
      child.send(order, (error) => {
        if (error !== null) child.kill('SIGKILL'); // it exited before the message could be sent
      });
      const end = await Promise.race([watched.end, ended]).finally(() => watched.close());
      if (typeof end === 'object') {
        if ('answer' in end) return end.answer;
        throw fromSent(end.failed);
      }
      stop.throwIfAborted();
      const reason =
        watched.tooLong() ??
        `its process exited (${end}), probably out of memory: the limit is ${memoryMb} MB`;
      log.warn(
        { event: 'child_ended', task: order.task, ended: end, reason, stderr },
        'A process that read a file has ended without an answer',
      );
      throw new ProcessEnded(reason);
    },
    async end() {
      const kill = () => void child.kill('SIGKILL');
      if (isAlive()) child.send(endOfTasks, (error) => void (error !== null && kill()));
      const late = setTimeout(kill, 1_000); // inside a step
      await ended.catch(() => undefined);
      clearTimeout(late);
    },
  };
}

/** The end of a task, and the limits that end its process. */
function watchTask(child: ChildProcess, { withinMs, stop, stepMs, onEvent }: Limits & { stepMs: number }) {
  let tooLong: string | undefined;
  const kill = () => void child.kill('SIGKILL');
  const endAfter = (ms: number) =>
    setTimeout(() => {
      tooLong = `it took longer than ${Math.round(ms / 1000)} s`;
      kill();
    }, ms);
  const late = withinMs === undefined ? undefined : endAfter(withinMs);
  const stuck = endAfter(stepMs);
  stop.addEventListener('abort', kill, { once: true });
  const { promise: end, resolve } = Promise.withResolvers<TaskEnd>();
  const onMessage = (message: Sent) => {
    stuck.refresh();
    if ('event' in message) onEvent?.(message.event);
    if ('answer' in message || 'failed' in message) resolve(message);
  };
  child.on('message', onMessage);
  return {
    end,
    tooLong: () => tooLong,
    close() {
      child.off('message', onMessage);
      clearTimeout(late);
      clearTimeout(stuck);
      stop.removeEventListener('abort', kill);
    },
  };
}

/** Only the secrets that the database driver reads. With Node's compile cache a process takes 160 ms of CPU to start instead of 400 (2026-11-24). */
function childEnv(env: ChildRunnerOptions['env'] = {}): NodeJS.ProcessEnv {
  const compiled = getCompileCacheDir();
  const ofDatabase = Object.entries(env).filter(([name]) => /^PG[A-Z]+$/.test(name));
  return {
    ...Object.fromEntries(ofDatabase),
    TMPDIR: tmpdir(),
    ...(compiled !== undefined && { NODE_COMPILE_CACHE: path.dirname(compiled) }),
  };
}

/** @returns the exit code or the signal, once all output of the process has arrived. */
function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(signal ?? String(code)));
  });
}
