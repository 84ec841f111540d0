// A complete installation: `almanac start` as a separate process with its own directory and a free port, and the command line next to it. Tests see
// only what an operator and a client see.
import type { ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../kernel/project.ts';
import { startChild, startServing, type Child } from '../run/processes.ts';
import { endProcesses } from '../run/run-processes.ts';
import { saveLogLines } from '../run/traces.ts';

export interface Installation {
  /** The gateway's URL, the same for every start. */
  url: string;
  dataDir: string;
  /** The environment of its processes. */
  env: NodeJS.ProcessEnv;
  /** Runs `almanac start` until it serves. @throws Error with its output if it ends instead. */
  start(): Promise<Serving>;
  /** Runs `almanac …`. @returns its exit code and its output. */
  run(...words: string[]): Promise<{ code: number | null; output: string }>;
  /** Runs `almanac …`. @throws Error with its output if its exit code is not 0. */
  almanac(...words: string[]): Promise<string>;
  /** Starts `almanac …` and returns the process, for tests that end it. */
  spawn(...words: string[]): Child;
  /** Ends all of its processes that still run, including PostgreSQL, in any state. */
  end(): Promise<void>;
  /** Ends it, and removes the directory. */
  remove(): Promise<void>;
}

export interface Serving {
  /** The printed key; undefined if none was printed, as on every start except the first. */
  apiKey: string | undefined;
  output: string;
  /** Everything it has printed until now. */
  printed(): string;
  process: ChildProcess;
  /** Sends the signal and waits. @returns the exit code, or null if the signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

// The end of the greeting.
const greeted = /\nAPI: [^]*\n\n$/;

/** Register a teardown that calls `remove()` before starting anything. */
export async function createInstallation(env: Record<string, string> = {}): Promise<Installation> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-installation-'));
  chmodSync(directory, 0o755); // if root runs this, PostgreSQL's own user needs access
  const dataDir = path.join(directory, 'data');
  const port = await freePort();
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    SETTINGS_FILE: '/dev/null', // not the settings of the user who runs the tests
    DATABASE_URL: '',
    REDIS_URL: '',
    DASHBOARD: 'off', // not needed by these tests, and building it takes long
    MANAGEMENT_CALLS_SECOND: '10000',
    DATA_DIR: dataDir,
    PORT: String(port),
    ...env,
  };
  const program = path.join(projectRoot, 'almanac.js');
  const options = (words: readonly string[]) => ({
    name: `almanac ${words.join(' ')}`,
    cwd: directory,
    env: environment,
  });
  const spawnAlmanac = (...words: string[]) =>
    saveLog(startChild(process.execPath, [program, ...words], options(words)));
  const run = async (...words: string[]) => {
    const child = spawnAlmanac(...words);
    const code = await child.exit();
    return { code, output: child.output() };
  };
  const end = async () => {
    const left = await endProcesses({ mark: `DATA_DIR=${dataDir}`, directory });
    if (left.length > 0) throw new Error(`These do not end: ${JSON.stringify(left)}`);
  };
  return {
    url: `http://127.0.0.1:${port}`,
    dataDir,
    env: environment,
    run,
    spawn: spawnAlmanac,
    async start() {
      const words = [program, 'start'];
      const child = saveLog(await startServing(greeted, process.execPath, words, options(['start'])));
      const output = child.output();
      return {
        apiKey: /^API key: (pk_live_\w+)$/m.exec(output)?.[1],
        output,
        printed: child.output,
        process: child.process,
        stop: (signal = 'SIGINT') => child.end(signal),
      };
    },
    async almanac(...words) {
      const { code, output } = await run(...words);
      if (code !== 0) throw new Error(`almanac ${words.join(' ')} ended with ${code}:\n${output}`);
      return output;
    },
    end,
    async remove() {
      await end();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function saveLog<T extends Child>(child: T): T {
  void child.ended.then(() => saveLogLines(child.output()));
  return child;
}

// Below the range of ports of outgoing connections, so that it is still free when a server binds it, also after a restart.
const [firstPort, lastPort] = [12_000, 30_000];

/** A free port of the loopback interface. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = firstPort + Math.floor(Math.random() * (lastPort - firstPort));
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
  throw new Error(`No port from ${firstPort} to ${lastPort} is free.`);
}

/** A file for PLANS_FILE with the project's plans, but with a rate limit that no test reaches. */
export function unhurriedPlansFile(): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-plans-')), 'plans.yml');
  const plans = readFileSync(path.join(projectRoot, 'config/plans.yml'), 'utf8');
  writeFileSync(file, plans.replaceAll(/(calls_second|concurrency): \d+/g, '$1: 10000'));
  return file;
}
