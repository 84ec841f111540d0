// PostgreSQL servers for tests that kill, stop or stall one: a primary, and streaming replicas of it. Each is restarted on its old port. A replica is
// created with PostgreSQL's backup functions, as the embedded package has no pg_basebackup.
import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../embedded/postgres.ts';
import { stubbornly, type Unit } from '../chaos/units.ts';
import { until } from '../run/until.ts';
import { freePort } from './instance.ts';

export interface PostgresUnit extends Unit {
  /** The URL of the database `almanac`, as its owner; the same after every restart. */
  readonly url: string;
  /** Its data directory. */
  readonly cluster: string;
  /** The program and its arguments. */
  readonly command: readonly [program: string, ...words: string[]];
}

// Its shared memory is in files of the data directory, so a kill leaves nothing elsewhere. A replica that was away still finds the changes it missed.
const settings = { dynamic_shared_memory_type: 'mmap', wal_keep_size: '512MB' };

/** PostgreSQL of the embedded package in its own directory; restarted with the same arguments. */
export async function startPostgresUnit(dataDir: string, over: AbortSignal): Promise<PostgresUnit> {
  const { url, directory: cluster } = await startEmbeddedPostgres(dataDir, settings);
  const [program = '', ...words] = readFileSync(path.join(cluster, 'postmaster.opts'), 'utf8')
    .trim()
    .split(/ (?=")/)
    .map((word) => word.replaceAll('"', ''));
  const pid = Number(readFileSync(path.join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
  return unitOf({ name: 'postgres', url, cluster, command: [program, ...words], pid, over });
}

/** A streaming replica of a running primary. @param directory for its data; its parent must exist. */
export async function startReplicaUnit(
  primary: PostgresUnit,
  directory: string,
  over: AbortSignal,
): Promise<PostgresUnit> {
  await copyCluster(primary, directory);
  const { hostname, port: primaryPort, username, password } = new URL(primary.url);
  const connection = `host=${hostname} port=${primaryPort} user=${username} password=${password}`;
  appendFileSync(path.join(directory, 'postgresql.auto.conf'), `primary_conninfo = '${connection}'\n`);
  writeFileSync(path.join(directory, 'standby.signal'), '');
  giveTo(primary.cluster, path.join(directory, 'standby.signal'));
  const url = new URL(primary.url);
  url.port = String(await freePort());
  const [program, ...words] = primary.command;
  const own = words.map((word) =>
    word === primary.cluster ? directory : word.replace(`port=${primaryPort}`, `port=${url.port}`),
  );
  const unit = unitOf({
    ...{ name: 'replica', url: url.href, cluster: directory, command: [program, ...own], pid: 0, over },
  });
  await unit.start();
  return unit;
}

/** Files omitted from a backup: the server creates them, or gets them from the primary. */
const notCopied = [
  ...['postmaster.pid', 'postmaster.opts', 'pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_stat_tmp'],
];
const madeEmpty = [
  'pg_wal',
  'pg_wal/archive_status',
  'pg_wal/summaries',
  'pg_replslot',
  'pg_dynshmem',
  'pg_stat_tmp',
];

async function copyCluster({ url, cluster }: PostgresUnit, directory: string): Promise<void> {
  mkdirSync(directory, { mode: 0o700 });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('replica', fast => true)");
    const copied = readdirSync(cluster).filter((name) => !notCopied.includes(name));
    execFileSync('cp', ['-a', ...copied.map((name) => path.join(cluster, name)), directory]);
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(wait_for_archive => false)',
    );
    writeFileSync(path.join(directory, 'backup_label'), rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
  for (const name of madeEmpty) mkdirSync(path.join(directory, name), { mode: 0o700 });
  for (const name of ['', 'backup_label', ...madeEmpty]) giveTo(cluster, path.join(directory, name));
}

/** Gives a file to the user that the server runs as. */
function giveTo(cluster: string, file: string): void {
  const { uid, gid } = statSync(cluster);
  chownSync(file, uid, gid);
}

interface Launch {
  name: string;
  url: string;
  cluster: string;
  command: readonly [program: string, ...words: string[]];
  /** 0: not running yet. */
  pid: number;
  over: AbortSignal;
}

function unitOf({ name, url, cluster, command, over, ...running }: Launch): PostgresUnit {
  const [program, ...words] = command;
  const { uid, gid } = statSync(cluster);
  let { pid } = running;

  async function launch(): Promise<void> {
    const owner = process.getuid?.() === 0 ? { uid, gid } : {};
    const child = spawn(program, words, { ...owner, stdio: 'ignore', cwd: '/', detached: true });
    child.unref();
    pid = child.pid ?? 0;
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
      void until(`${name} answers`, () => child.exitCode !== null || answers(url)).then(resolve, reject);
    });
    child.removeAllListeners('exit');
  }

  async function end(by: 'SIGKILL' | 'SIGINT'): Promise<void> {
    signal(pid, by);
    signal(pid, 'SIGCONT');
    await until(`${name} has ended`, () => !isAlive(pid));
  }

  return {
    ...{ name, url, cluster, command },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGINT'), // its fast shutdown
    stall() {
      for (const each of [pid, ...childrenOf(pid)]) signal(each, 'SIGSTOP');
    },
    goOn() {
      if (!isAlive(pid)) return;
      for (const each of [...childrenOf(pid), pid]) signal(each, 'SIGCONT');
    },
    start: () => stubbornly(name, over, launch),
  };
}

/** Whether it accepts connections; false while it starts or recovers. */
async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined); // reported by connect as well
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
}

/** A process that has ended is not alive, even if its parent has not collected it. */
function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

/** Ignores backends that end between being listed and being signalled. */
function signal(pid: number, name: NodeJS.Signals): void {
  if (isAlive(pid)) process.kill(pid, name);
}
