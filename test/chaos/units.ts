// The processes that the chaos run ends and stalls: rooms, PostgreSQL and Redis, each started again at its old address.
import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream, readFileSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../embedded/postgres.ts';
import { projectRoot } from '../../kernel/settings.ts';
import { startRedis, type PrivateRedis } from '../redis.ts';

export interface Unit {
  readonly name: string;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves when it has ended by itself. @throws Error where it ends with anything but 0. */
  stop(): Promise<void>;
  /** Stops it where it stands, as a machine does that swaps. */
  stall(): void;
  goOn(): void;
  /** Starts it at its address, and tries again where that fails. */
  start(): Promise<void>;
}

export type RoomName = 'gateway' | 'data-api' | 'accounts-api';

export interface Room extends Unit {
  readonly url: string;
}

const startTries = 20;
const betweenTriesMs = 250;
/** A gateway that cannot hand its journal over tries for 10 s. */
const stopWithinMs = 30_000;

/** @param over no start is tried any more. */
async function stubbornly(what: string, over: AbortSignal, start: () => Promise<void>): Promise<void> {
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

/** A room as `almanac start <room>`, not started yet. @param logDirectory where its output is kept; null: nowhere. */
export async function makeRoom(
  room: RoomName,
  number: number,
  env: Record<string, string>,
  logDirectory: string | null,
  over: AbortSignal,
): Promise<Room> {
  const port = await quietPort();
  const name = `${room} ${number}`;
  const log =
    logDirectory === null
      ? undefined
      : createWriteStream(path.join(logDirectory, `${name.replace(' ', '-')}.log`));
  const ports = { gateway: 'PORT', 'data-api': 'DATA_API_PORT', 'accounts-api': 'ACCOUNTS_API_PORT' };
  let child: ChildProcess | undefined;

  async function launch(): Promise<void> {
    const started = spawn(process.execPath, [path.join(projectRoot, 'almanac.js'), 'start', room], {
      env: { ...process.env, ...env, [ports[room]]: String(port) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = started;
    let output = '';
    await new Promise<void>((resolve, reject) => {
      started.once('close', (code) => reject(new Error(`${name} ended with ${code}:\n${output}`)));
      for (const stream of [started.stdout, started.stderr]) {
        stream.on('data', (chunk: Buffer) => {
          log?.write(chunk);
          output = (output + chunk.toString()).slice(-4_000);
          if (output.includes(`${room} is running`)) resolve();
        });
      }
    });
  }

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return null;
    const ended = new Promise<number | null>((resolve) => child?.once('exit', resolve));
    child.kill(signal);
    return ended;
  }

  return {
    name,
    url: `http://127.0.0.1:${port}`,
    async kill() {
      await end('SIGKILL');
    },
    async stop() {
      const patience = setTimeout(() => void end('SIGKILL'), stopWithinMs);
      const code = await end('SIGTERM');
      clearTimeout(patience);
      if (code !== 0)
        throw new Error(`${name} was told to stop and ended with ${code ?? 'nothing but a kill'}`);
    },
    stall: () => void child?.kill('SIGSTOP'),
    goOn: () => void child?.kill('SIGCONT'),
    start: () => stubbornly(name, over, launch),
  };
}

/** Below the range that outgoing connections take their ports from, so that it is still free after a restart. */
async function quietPort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 18_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

export interface RedisUnit extends Unit {
  readonly redis: PrivateRedis;
}

export async function startRedisUnit(over: AbortSignal): Promise<RedisUnit> {
  const redis = await startRedis();
  return {
    name: 'redis',
    redis,
    kill: redis.kill,
    stop: redis.kill,
    stall: redis.stall,
    goOn: redis.goOn,
    start: () => stubbornly('redis', over, redis.restart),
  };
}

export interface PostgresUnit extends Unit {
  /** Of the database `almanac`; the same after every restart. */
  readonly url: string;
}

/** PostgreSQL of the embedded package in a directory of its own; started again by the words it was started with. */
export async function startPostgresUnit(dataDir: string, over: AbortSignal): Promise<PostgresUnit> {
  const { url } = await startEmbeddedPostgres(dataDir);
  const location = path.join(dataDir, 'postgres.location');
  const cluster = readdirSync(dataDir).includes('postgres.location')
    ? readFileSync(location, 'utf8').trim()
    : path.join(dataDir, 'postgres');
  const pidFile = path.join(cluster, 'postmaster.pid');
  const [program = '', ...words] = readFileSync(path.join(cluster, 'postmaster.opts'), 'utf8')
    .trim()
    .split(/ (?=")/)
    .map((word) => word.replaceAll('"', ''));
  const { uid, gid } = statSync(cluster);
  let pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);

  async function launch(): Promise<void> {
    const owner = process.getuid?.() === 0 ? { uid, gid } : {};
    const child = spawn(program, words, { ...owner, stdio: 'ignore', cwd: '/', detached: true });
    child.unref();
    pid = child.pid ?? 0;
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`postgres ended with ${code}`)));
      void untilItAnswers(url, () => child.exitCode === null).then(resolve, reject);
    });
    child.removeAllListeners('exit');
  }

  async function end(signal: 'SIGKILL' | 'SIGINT'): Promise<void> {
    if (!isAlive(pid)) return;
    process.kill(pid, signal);
    while (isAlive(pid)) await pause(5);
  }

  return {
    name: 'postgres',
    url,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGINT'), // its fast shutdown
    stall() {
      for (const each of [pid, ...childrenOf(pid)]) signal(each, 'SIGSTOP');
    },
    goOn() {
      for (const each of [...childrenOf(pid), pid]) signal(each, 'SIGCONT');
    },
    start: () => stubbornly('postgres', over, launch),
  };
}

async function untilItAnswers(url: string, isAlive: () => boolean): Promise<void> {
  while (isAlive()) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    client.on('error', () => undefined); // told by connect as well
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await pause(50); // it starts, or recovers
    }
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
}

/** A process that has ended, waited for or not, is not alive. */
function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

/** A backend may end between being listed and being told. */
function signal(pid: number, name: NodeJS.Signals): void {
  if (isAlive(pid)) process.kill(pid, name);
}
