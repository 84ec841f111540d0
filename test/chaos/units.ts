// The processes that the chaos run kills and stalls, and the services among them, each restarted at its old port.
import { createWriteStream, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { projectRoot } from '../../kernel/project.ts';
import { freePort } from '../services/instance.ts';
import { startServing, type Child } from '../run/processes.ts';

export interface Unit {
  readonly name: string;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves when it has ended. @throws Error if it exits with anything but 0. */
  stop(): Promise<void>;
  /** Pauses it, like a machine that swaps. */
  stall(): void;
  goOn(): void;
  /** Starts it at its port, and tries again where that fails. */
  start(): Promise<void>;
}

export type ServiceName = 'gateway' | 'data-api' | 'accounts-api' | 'worker';

export interface Service extends Unit {
  readonly url: string;
  /** Of its process; undefined: none was started yet. */
  readonly pid: number | undefined;
  /** Sets how far its clock is ahead of the cluster's, also after restarts. */
  moveClock(aheadMs: number): void;
}

const startTries = 20;
const betweenTriesMs = 250;
/** A gateway that cannot hand its journal over tries for 10 s. */
const stopWithinMs = 30_000;

/** @param over no start is tried any more. */
export async function stubbornly(what: string, over: AbortSignal, start: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    over.throwIfAborted();
    try {
      return await start();
    } catch (error) {
      if (attempt === startTries) throw new Error(`${what} does not start`, { cause: error });
      await pause(betweenTriesMs);
    }
  }
}

export interface ServicePlace {
  /** For the files that it shares with the run. */
  directory: string;
  /** Where its output is stored; null: nowhere. */
  logDirectory: string | null;
  /** Nothing is started any more. */
  over: AbortSignal;
  /** How far the clock of the cluster is ahead of the machine's, in ms; 0 by default. */
  clockAheadMs?: number | undefined;
}

/** A service as `almanac start <service>`, not started yet. */
export async function makeService(
  service: ServiceName,
  number: number,
  env: Record<string, string>,
  { directory, logDirectory, over, clockAheadMs = 0 }: ServicePlace,
): Promise<Service> {
  const port = await freePort();
  const name = `${service} ${number}`;
  const clock = path.join(directory, `${name.replace(' ', '-')}.clock`);
  writeFileSync(clock, new Float64Array([clockAheadMs]));
  const log =
    logDirectory === null
      ? undefined
      : createWriteStream(path.join(logDirectory, `${name.replace(' ', '-')}.log`));
  const ports = {
    gateway: 'PORT',
    'data-api': 'DATA_API_PORT',
    'accounts-api': 'ACCOUNTS_API_PORT',
    worker: 'METRICS_PORT',
  };
  const preload = ['--import', path.join(import.meta.dirname, 'moved-clock.ts')];
  const words = [...preload, path.join(projectRoot, 'almanac.js'), 'start', service];
  let child: Child | undefined;
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    moveClock: (aheadMs) => writeFileSync(clock, new Float64Array([clockAheadMs + aheadMs]), { flag: 'r+' }),
    get pid() {
      return child?.process.pid;
    },
    async kill() {
      await child?.end('SIGKILL');
    },
    async stop() {
      const code = await child?.end('SIGTERM', stopWithinMs);
      if (code !== 0) throw new Error(`${name} was asked to stop and ended with ${code}`);
    },
    stall: () => void child?.process.kill('SIGSTOP'),
    goOn: () => void child?.process.kill('SIGCONT'),
    start: () =>
      stubbornly(name, over, async () => {
        child = await startServing(new RegExp(`${service} is running`), process.execPath, words, {
          name,
          env: {
            ...process.env,
            DASHBOARD: 'off',
            TEST_CLOCK: clock,
            ...env,
            [ports[service]]: String(port),
          },
          onOutput: (text) => void log?.write(text),
        });
      }),
  };
}
