// Runs work on files that are not trusted, or are large, in a process of its own: with a limit of memory and of time, one at a time. Whatever
// the file does to the process, the publisher goes on, and makes its releases at their instants.
import { fork, type ChildProcess } from 'node:child_process';
import { getCompileCacheDir } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { descriptorOf, type Log } from '../../../kernel/log/log.ts';
import { fromSent, type Order, type Told } from './messages.ts';
import type { TaskName, Tasks } from './tasks.ts';

export interface Apart {
  /**
   * Does the task, after those that were asked for before.
   * @param withinMs of the task, not of waiting. @param signal ends the process; what it has not committed is rolled back.
   * @throws ProcessEnded; what the task throws; the reason of the signal.
   */
  run<Name extends TaskName>(
    task: Name,
    given: Tasks[Name]['given'],
    options: { withinMs: number; accountId?: string; signal?: AbortSignal },
  ): Promise<Tasks[Name]['answer']>;
  /** Ends what is under way. */
  close(): Promise<void>;
}

export interface ApartOptions {
  databaseUrl: string;
  applicationName: string;
  log: Log;
  /** Of the heap of a process; default 512. */
  heapMb?: number;
}

/** The process has ended without an answer: for lack of memory, or because it took too long. */
export class ProcessEnded extends Error {}

export const heapMbUsual = 512;
const stderrKept = 2_000;

export function createApart(options: ApartOptions): Apart {
  let last: Promise<unknown> = Promise.resolve();
  const closing = new AbortController();
  return {
    async run(task, given, { withinMs, accountId, signal }) {
      const order: Order = {
        ...{ task, given, databaseUrl: options.databaseUrl, applicationName: options.applicationName },
        accountId: accountId ?? null,
      };
      const stop = signal === undefined ? closing.signal : AbortSignal.any([closing.signal, signal]);
      const done = last.then(async () => {
        stop.throwIfAborted();
        return runOne(options, order, withinMs, stop);
      });
      last = done.catch(() => undefined);
      return (await done) as Tasks[typeof task]['answer'];
    },
    async close() {
      closing.abort(new Error('The publisher is stopping.'));
      await last;
    },
  };
}

async function runOne(
  options: ApartOptions,
  order: Order,
  withinMs: number,
  stop: AbortSignal,
): Promise<unknown> {
  const { heapMb = heapMbUsual, log } = options;
  const child = fork(new URL('./process.ts', import.meta.url), {
    execArgv: [...flagsFor(process.execArgv), `--max-old-space-size=${heapMb}`],
    env: childEnv(),
    stdio: ['ignore', descriptorOf(log), 'pipe', 'ipc'],
    serialization: 'advanced',
  });
  let stderr = '';
  child.stderr
    ?.setEncoding('utf8')
    .on('data', (text: string) => (stderr = (stderr + text).slice(-stderrKept)));
  const late = AbortSignal.timeout(withinMs);
  const kill = () => void child.kill('SIGKILL');
  const ending = AbortSignal.any([late, stop]);
  ending.addEventListener('abort', kill, { once: true });
  const { told, ended } = await endOf(child, order).finally(() => ending.removeEventListener('abort', kill));
  if (told !== undefined && 'answer' in told) return told.answer;
  if (told !== undefined) throw fromSent(told.failed);
  stop.throwIfAborted();
  log.warn(
    { event: 'apart_ended', task: order.task, ended, late: late.aborted, stderr },
    'A process that read a file has ended without an answer',
  );
  throw new ProcessEnded(
    late.aborted
      ? `it took longer than ${Math.round(withinMs / 1000)} s`
      : `its process ended (${ended}), for lack of memory perhaps: it may take ${heapMb} MB`,
  );
}

/** Node's flags without those that are for the publisher alone: its heap, its debugger, and what is loaded before it. */
function flagsFor(flags: readonly string[]): string[] {
  const isPreload = (flag = '') => /^(?:--import|--require|-r)$/.test(flag); // the next word says what
  return flags.filter(
    (flag, at) => !/^(?:--(?:inspect|max-|import|require)|-r$)/.test(flag) && !isPreload(flags[at - 1]),
  );
}

/** No secret of the publisher's. With what Node has compiled a process takes 160 ms of CPU to start instead of 400 (2026-11-24). */
function childEnv(): NodeJS.ProcessEnv {
  const compiled = getCompileCacheDir();
  return { TMPDIR: tmpdir(), ...(compiled !== undefined && { NODE_COMPILE_CACHE: path.dirname(compiled) }) };
}

interface Ending {
  told: Told | undefined;
  /** The exit code or the signal. */
  ended: string;
}

function endOf(child: ChildProcess, order: Order): Promise<Ending> {
  let told: Ending['told'];
  return new Promise((resolve, reject) => {
    child.once('message', (message: Told) => (told = message));
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ told, ended: signal ?? String(code) }));
    child.send(order, (error) => {
      if (error !== null) child.kill('SIGKILL'); // it has ended before it could be told
    });
  });
}
