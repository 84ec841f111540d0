// The guard of a test run: a process next to the runner that owns the run's directory. When the runner ends, in whatever way, the guard ends every
// process of the run and removes the directory with its content.
//
// It detects the end of the runner by a pipe: the system closes the runner's end of it even after SIGKILL. The guard has its own session, so that a
// signal to the runner's process group, or from its terminal, does not reach it.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Run } from './run-processes.ts';
import { within } from './until.ts';

export interface Guard extends Run {
  /** Additions to the environment of every process of the run. Temporary files go into the run's directory. */
  env: Record<string, string>;
  /** Ends the processes of the run and removes its directory. @throws Error if the guard could not. */
  end(): Promise<void>;
}

/** Starts the guard. The guard creates the directory itself, so no directory exists without it. */
export async function startGuard(): Promise<Guard> {
  // A unique name: a run that is started by a test of another run also keeps that run's mark.
  const name = `ALMANAC_TEST_RUN_${randomBytes(8).toString('hex')}`;
  const mark = `${name}=1`;
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'guard-process.ts'), mark], {
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => undefined); // the guard has ended
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
      // All processes of the run share one compile cache.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? path.join(directory, 'compiled'),
    },
    async end() {
      child.stdin.end();
      const [code, signal] = (await closed) as [number | null, NodeJS.Signals | null];
      if (code !== 0)
        throw new Error(`The guard of the run ended with ${code ?? signal}: ${directory} may remain.`);
    },
  };
}

/**
 * Does the work under a guard, so that everything this process starts belongs to the run. Once nothing of the run remains, ends this process with the
 * work's exit code, or by the signal that ended it.
 */
export async function runGuarded(work: (run: Run) => Promise<number>): Promise<void> {
  const stopped = stopSignal();
  const guard = await startGuard();
  Object.assign(process.env, guard.env);
  const outcome = await Promise.race([stopped, work(guard)]).finally(guard.end);
  if (typeof outcome === 'number') process.exit(outcome);
  process.removeAllListeners(outcome);
  process.kill(process.pid, outcome);
}

/** Resolves when this process should end: by a signal, or because the npm that started it has ended; a killed npm sends no signal. */
function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals) => {
      process.on('uncaughtException', () => undefined); // running work fails when its servers end
      resolve(signal);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
    const npm = Number(process.env['TEST_PARENT_PID']);
    delete process.env['TEST_PARENT_PID']; // only this process has this parent; its children may run under their own guards
    const look = () => void (npm > 0 && process.ppid !== npm && stop('SIGTERM'));
    look();
    setInterval(look, 250).unref();
  });
}
