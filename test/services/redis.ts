// Private Redis servers for tests that kill, stall or empty one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from 'redis';
import { freePort } from './instance.ts';
import { startServing } from '../run/processes.ts';

export interface PrivateRedis {
  url: string;
  port: number;
  /** Sends one command, like `redis-cli`. */
  command(...words: string[]): Promise<unknown>;
  /** Pauses the process, like a machine that swaps or a disk that hangs. */
  stall(): void;
  goOn(): void;
  /** Kills it; its data is lost. */
  kill(): Promise<void>;
  /** Restarts it on its port, without data. */
  restart(): Promise<void>;
  /** Ends it, stalled or not, and removes its files. */
  stop(): Promise<void>;
}

/** Starts `redis-server` on a free port, without persistence. @param options further command line arguments. */
export async function startRedis(...options: string[]): Promise<PrivateRedis> {
  const port = await freePort();
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory, ...options];
  const launch = () =>
    startServing(/Ready to accept connections/, 'redis-server', args, { name: 'redis-server' });
  const remove = () => rmSync(directory, { recursive: true, force: true });
  let server = await launch().catch((error: unknown) => {
    remove();
    throw error;
  });
  const url = `redis://127.0.0.1:${port}`;
  async function kill(): Promise<void> {
    await server.end('SIGKILL');
  }
  return {
    url,
    port,
    async command(...words) {
      const client = createClient({ url });
      await client.connect();
      try {
        return await client.sendCommand(words);
      } finally {
        client.destroy();
      }
    },
    stall: () => void server.process.kill('SIGSTOP'),
    goOn: () => void server.process.kill('SIGCONT'),
    kill,
    async restart() {
      await kill();
      server = await launch();
    },
    async stop() {
      await kill();
      remove();
    },
  };
}
