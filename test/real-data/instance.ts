// A private installation for the real-data run: `almanac start` on a free port in a directory of its own, and the
// command line beside it. Hides processes; what the run sees is what an operator and a client see.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../kernel/settings.ts';

export interface Instance {
  url: string;
  apiKey: string;
  /** Runs `almanac …` beside it. @throws Error with what it printed, where it does not end with 0. */
  almanac(...words: string[]): Promise<string>;
  /** A keyed GET. */
  get(path: string): Promise<Response>;
  /** SIGINT, as Ctrl-C does; resolves with the exit code. */
  stop(): Promise<number | null>;
}

const startTimeoutMs = 120_000;

export async function startInstance(): Promise<Instance> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-real-'));
  const env = {
    ...process.env,
    DATA_DIR: path.join(directory, 'data'),
    PORT: String(await freePort()),
    DATABASE_URL: '',
  };
  const server = spawn(process.execPath, ['almanac.js', 'start'], {
    cwd: projectRoot,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const apiKey = await printedKey(server);
  const url = `http://127.0.0.1:${env.PORT}`;
  return {
    url,
    apiKey,
    almanac: (...words) => run(words, env),
    get: (target) => fetch(url + target, { headers: { 'x-api-key': apiKey } }),
    async stop() {
      server.kill('SIGINT');
      const code = await new Promise<number | null>((resolve) => server.once('close', resolve));
      rmSync(directory, { recursive: true, force: true });
      return code;
    },
  };
}

function printedKey(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const timer = setTimeout(
      () => reject(new Error(`almanac start printed no key:\n${output}`)),
      startTimeoutMs,
    );
    server.once('exit', (code) => reject(new Error(`almanac start ended with ${code}:\n${output}`)));
    server.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const key = /^API key: (pk_live_\w+)$/m.exec(output)?.[1];
      if (key === undefined) return;
      clearTimeout(timer);
      resolve(key);
    });
  });
}

function run(words: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, ['almanac.js', ...words], {
    cwd: projectRoot,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`almanac ${words.join(' ')} ended with ${code}:\n${output}`));
    });
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
