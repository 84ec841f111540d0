// Private Redis servers for tests that kill, stall or empty one.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from 'redis';
import { freePort } from './instance.ts';

export interface PrivateRedis {
  url: string;
  port: number;
  /** Sends one command, as `redis-cli` would. */
  command(...words: string[]): Promise<unknown>;
  /** Stops the process where it stands, as a machine that swaps or a disk that hangs does. */
  stall(): void;
  goOn(): void;
  /** Ends it at once, with all it holds. */
  kill(): Promise<void>;
  /** Starts it again on its port, empty. */
  restart(): Promise<void>;
  /** Ends it and removes what it left. */
  stop(): Promise<void>;
}

/** Starts `redis-server` on a free port, without persistence. @param options more of its command line. */
export async function startRedis(...options: string[]): Promise<PrivateRedis> {
  const port = await freePort();
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory, ...options];
  let server = await launch(args);
  const url = `redis://127.0.0.1:${port}`;
  async function kill(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
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
    stall: () => void server.kill('SIGSTOP'),
    goOn: () => void server.kill('SIGCONT'),
    kill,
    async restart() {
      await kill();
      server = await launch(args);
    },
    async stop() {
      await kill();
      rmSync(directory, { recursive: true });
    },
  };
}

async function launch(args: readonly string[]): Promise<ChildProcess> {
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
    server.stdout.on('data', (chunk: Buffer) => {
      if (/Ready to accept connections|Running mode=sentinel/.test(chunk.toString())) resolve();
    });
  });
  return server;
}
