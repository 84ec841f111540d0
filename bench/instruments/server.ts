// Measured servers: child processes on a core of their own that report their CPU time and memory.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { onMeasuredCore } from './cores.ts';

/** The answer of a server over the channel between the processes. */
export interface ServerState {
  /** User and system time since it started. */
  cpuUs: number;
  /** Current resident memory. */
  memoryBytes: number;
}

export interface MeasuredServer {
  url: string;
  state(): Promise<ServerState>;
  stop(): Promise<void>;
}

/** Starts `program`, a file of this project that calls `serveMeasured`. */
export async function startMeasured(program: string, args: readonly string[]): Promise<MeasuredServer> {
  const [name, ...words] = onMeasuredCore([process.execPath, program, ...args]);
  const child = spawn(name, words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [url] = (await Promise.race([once(child, 'message'), failed(child, program)])) as [string];
  return {
    url,
    async state() {
      child.send('state');
      const [state] = (await once(child, 'message')) as [ServerState];
      return state;
    },
    async stop() {
      const exit = once(child, 'exit');
      child.disconnect();
      await exit;
    },
  };
}

async function failed(child: ChildProcess, program: string): Promise<never> {
  await once(child, 'exit');
  throw new Error(`${path.basename(program)} ended before it served.`);
}

/** In the child: sends the URL, answers requests, and stops when the parent leaves. */
export function serveMeasured(url: string, close: () => Promise<void>): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    const state: ServerState = { cpuUs: user + system, memoryBytes: process.memoryUsage.rss() };
    process.send?.(state);
  });
  process.once('disconnect', () => void close());
  process.send?.(url);
}
