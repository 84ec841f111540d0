// The guard of a test run: a process beside the runner that owns the run's directory. When the runner ends, in whatever way, the
// guard ends every process of the run and removes the directory with all that is in it. Hides how it learns of that.
//
// By a pipe: the system closes the runner's end of it even after SIGKILL. The guard has a session of its own, so that a signal to
// the process group of the runner, or from its terminal, does not reach it.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Run } from './run-processes.ts';
import { within } from './until.ts';

export interface Guard extends Run {
  /** To be added to the environment of every process of the run. Temporary files go into the run's directory. */
  env: Record<string, string>;
  /** Ends the processes of the run and removes its directory. */
  end(): Promise<void>;
}

/** Starts the guard. It makes the directory itself: there is none that it does not know of. */
export async function startGuard(): Promise<Guard> {
  // A name of its own: a run that a test of another run starts keeps the mark of the other.
  const name = `ALMANAC_TEST_RUN_${randomBytes(8).toString('hex')}`;
  const mark = `${name}=1`;
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'guard-process.ts'), mark], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => undefined); // it has ended
  const closed = once(child, 'close');
  const [directory] = (await within(
    'the directory of the run is made',
    Promise.race([once(createInterface(child.stdout), 'line'), closed]),
  )) as [unknown];
  if (typeof directory !== 'string') throw new Error(`The guard of the run ended with ${String(directory)}.`);
  return {
    mark,
    directory,
    env: {
      [name]: '1',
      TMPDIR: path.join(directory, 'tmp'),
      // What is compiled in one process of the run is read by the others.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? path.join(directory, 'compiled'),
    },
    async end() {
      child.stdin.end();
      await closed;
    },
  };
}

/**
 * Does the work under a guard, all that this process starts being of its run, and ends this process: with the code that the work
 * comes to, or by the signal that ended it, and in either case when nothing of the run is left.
 */
export async function underGuard(work: (run: Run) => Promise<number>): Promise<void> {
  const stopped = stopSignal();
  const guard = await startGuard();
  Object.assign(process.env, guard.env);
  const outcome = await Promise.race([stopped, work(guard)]).finally(guard.end);
  if (typeof outcome === 'number') process.exit(outcome);
  process.removeAllListeners(outcome);
  process.kill(process.pid, outcome);
}

/** Resolves when this process is asked to end: by a signal, or by the end of the npm that started it, which when killed notifies nobody. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      process.on('uncaughtException', () => undefined); // what is under way fails as its servers go
      resolve(signal);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
    const npm = Number(process.env['TEST_PARENT_PID']);
    delete process.env['TEST_PARENT_PID']; // of this process: what it starts may run under a guard of its own
    const look = () => void (npm > 0 && process.ppid !== npm && stop('SIGTERM'));
    look();
    setInterval(look, 250).unref();
  });
}
