// An installation as an operator has it: `almanac start` as a process of its own, in a directory of its own, on a free
// port; the command line beside it. Hides processes: what tests see is what an operator and a client see.
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../kernel/settings.ts';
import { keepLogLines } from './traces.ts';

export interface Installation {
  /** The gateway's address, the same for every start. */
  url: string;
  dataDir: string;
  /** The environment of its processes. */
  env: NodeJS.ProcessEnv;
  /** Runs `almanac start` until it serves. @throws Error with what it printed where it ends instead. */
  start(): Promise<Serving>;
  /** Runs `almanac …`. @returns its exit code and all it printed. */
  run(...words: string[]): Promise<{ code: number | null; output: string }>;
  /** Runs `almanac …`. @throws Error with what it printed where it does not end with 0. */
  almanac(...words: string[]): Promise<string>;
  /** Starts `almanac …` and hands over the process, for those who want to end it. */
  spawn(...words: string[]): ChildProcess;
  /** Removes the directory. */
  remove(): void;
}

export interface Serving {
  /** The key it printed; undefined where it printed none, as on every start but the first. */
  apiKey: string | undefined;
  output: string;
  /** Everything it has printed until now. */
  printed(): string;
  process: ChildProcess;
  /** Sends the signal and waits. @returns the exit code, or null where the signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const startTimeoutMs = 120_000;

export async function createInstallation(env: Record<string, string> = {}): Promise<Installation> {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-installation-'));
  chmodSync(directory, 0o755); // where root runs this, PostgreSQL's own user must get in
  const dataDir = path.join(directory, 'data');
  const port = await freePort();
  const environment = {
    ...process.env,
    DATABASE_URL: '',
    REDIS_URL: '',
    DATA_DIR: dataDir,
    PORT: String(port),
    ...env,
  };
  const spawnAlmanac = (...words: string[]) =>
    spawn(process.execPath, [path.join(projectRoot, 'almanac.js'), ...words], {
      cwd: directory,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const run = async (...words: string[]) => {
    const child = spawnAlmanac(...words);
    const output = collect(child);
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, output: output.text };
  };
  return {
    url: `http://127.0.0.1:${port}`,
    dataDir,
    env: environment,
    run,
    spawn: spawnAlmanac,
    start: () => serving(spawnAlmanac('start')),
    async almanac(...words) {
      const { code, output } = await run(...words);
      if (code !== 0) throw new Error(`almanac ${words.join(' ')} ended with ${code}:\n${output}`);
      return output;
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function serving(child: ChildProcess): Promise<Serving> {
  const output = collect(child);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`almanac start does not serve:\n${output.text}`)),
      startTimeoutMs,
    );
    child.once('close', (code) => reject(new Error(`almanac start ended with ${code}:\n${output.text}`)));
    child.stdout?.on('data', () => {
      if (!output.text.includes('\nAPI: ') || !output.text.endsWith('\n\n')) return; // the greeting's end
      clearTimeout(timer);
      resolve();
    });
  });
  return {
    apiKey: /^API key: (pk_live_\w+)$/m.exec(output.text)?.[1],
    output: output.text,
    printed: () => output.text,
    process: child,
    stop(signal = 'SIGINT') {
      child.kill(signal);
      return ended;
    },
  };
}

function collect(child: ChildProcess): { text: string } {
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => (output.text += chunk.toString()));
  }
  child.once('close', () => keepLogLines(output.text));
  return output;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A file with the project's plans at a rate that no test reaches; for PLANS_FILE. */
export function unhurriedPlansFile(): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-plans-')), 'plans.yml');
  const plans = readFileSync(path.join(projectRoot, 'config/plans.yml'), 'utf8');
  writeFileSync(file, plans.replaceAll(/calls_second: \d+/g, 'calls_second: 10000'));
  return file;
}
