// A copy of the tree with its own servers, in which changes are tried: the developer's tree is never written to.
// Hides the links to node_modules, the template of the databases, and the remains of an interrupted run.
import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../embedded/postgres.ts';
import { startRedis } from '../services/redis.ts';
import { findLeaks, readRedis } from '../run/traces.ts';
import { projectFiles } from './draw.ts';

export interface Copy {
  root: string;
  /** The environment in which AVA finds the servers. */
  env: Record<string, string>;
  /** Writes files; null removes one. `restore` undoes all of it. */
  write(texts: readonly { file: string; text: string | null }[]): void;
  restore(): void;
  /** Makes the template of the tests' databases with the copy's own migrations. @returns the error, or null. */
  migrate(): Promise<string | null>;
  /** @returns the first fault of types, or null. Unused names do not count: a change that drops a call would be found by its form. */
  typeFault(): Promise<string | null>;
  /** Ends the processes and removes the databases, keys and files that runs have left. */
  clean(): Promise<void>;
  /** The first secret found in leftovers of runs since the last `clean`, or null. */
  leak(): Promise<string | null>;
  /** Whether the output of the runs names SQL that PostgreSQL does not understand. */
  refusedSql(output: string): boolean;
  stop(): Promise<void>;
}

const misunderstood =
  /syntax error at or near|operator does not exist|function [^\n]{1,80} does not exist|column [^\n]{1,80} does not exist|could not determine data type|bind message supplies|must be type boolean|must appear in the GROUP BY|missing FROM-clause|inconsistent types deduced|Error compiling script/;

/** @param directory for everything; it is created, and removed by `stop`. */
export async function makeCopy(source: string, directory: string): Promise<Copy> {
  const root = path.join(directory, 'tree');
  const temporary = path.join(directory, 'tmp');
  const traces = path.join(directory, 'traces');
  mkdirSync(root, { recursive: true });
  chmodSync(directory, 0o755); // the server's user must reach it where root runs the tests
  for (const file of projectFiles(source))
    cpSync(path.join(source, file), path.join(root, file), { recursive: true });
  for (const modules of ['node_modules', 'test/openapi/generator/node_modules'])
    linkModules(path.join(source, modules), path.join(root, modules));
  const postgres = await startEmbeddedPostgres(directory);
  const redis = await startRedis().catch(async (error: unknown) => {
    await postgres.stop();
    throw error;
  });
  const stop = async () => {
    endProcesses(temporary);
    await redis.stop();
    await postgres.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  const changed = new Set<string>();
  const put = (file: string, text: string | null) => {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    if (text === null) rmSync(path.join(root, file), { force: true });
    else writeFileSync(path.join(root, file), text);
  };
  const emptyDirectories = () => {
    for (const each of [temporary, traces]) {
      rmSync(each, { recursive: true, force: true, maxRetries: 5 });
      mkdirSync(each);
    }
    chmodSync(temporary, 0o1777);
  };
  emptyDirectories();
  return {
    root,
    env: {
      TMPDIR: temporary,
      NODE_COMPILE_CACHE: path.join(directory, 'compiled'), // a quarter of a small test file's time (2026-11-22)
      TEST_POSTGRES_URL: postgres.url,
      TEST_REDIS_URL: redis.url,
      TEST_TRACES: traces,
    },
    write(texts) {
      for (const { file, text } of texts) {
        changed.add(file);
        put(file, text);
      }
    },
    restore() {
      for (const file of changed) put(file, readIfThere(path.join(source, file)));
      changed.clear();
    },
    migrate: () => makeTemplate(postgres.url, root),
    typeFault: () => typeFault(root),
    async clean() {
      endProcesses(temporary);
      await dropDatabases(postgres.url);
      await redis.command('FLUSHALL');
      emptyDirectories();
    },
    async leak() {
      const { leaks } = findLeaks(traces, [{ name: 'redis', text: await readRedis(redis.url) }]);
      return leaks[0] === undefined ? null : `${leaks[0].what} in ${leaks[0].where}`;
    },
    refusedSql: (output) =>
      misunderstood.test(output) ||
      readdirSync(traces)
        .filter((name) => name.startsWith('log-'))
        .some((name) => misunderstood.test(readFileSync(path.join(traces, name), 'utf8'))),
    stop,
  };
}

/**
 * A directory of its own, so that AVA's cache is the copy's own too. express-gateway finds our plugin by a path from its own
 * place, which must be in the copy: through a link it would run the code of the developer's tree.
 */
function linkModules(from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from).filter((each) => each !== '.cache')) {
    if (name === 'express-gateway') cpSync(path.join(from, name), path.join(to, name), { recursive: true });
    else symlinkSync(path.join(from, name), path.join(to, name));
  }
}

async function makeTemplate(serverUrl: string, root: string): Promise<string | null> {
  const servers = path.join(root, 'test/run/servers.ts');
  const script = `const { makeTemplate } = await import(${JSON.stringify(servers)});
    await makeTemplate(${JSON.stringify(serverUrl)});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 60_000,
  });
  let stderrText = '';
  child.stderr.on('data', (chunk: Buffer) => (stderrText += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return code === 0 ? null : stderrText;
}

async function typeFault(root: string): Promise<string | null> {
  const args = [
    '--noEmit',
    '--noUnusedLocals',
    'false',
    '--noUnusedParameters',
    'false',
    '--pretty',
    'false',
  ];
  const child = spawn(process.execPath, [path.join(root, 'node_modules/typescript/bin/tsc'), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 120_000,
  });
  let stdoutText = '';
  child.stdout.on('data', (chunk: Buffer) => (stdoutText += chunk.toString()));
  await new Promise<void>((resolve) => child.once('close', () => resolve()));
  return /^.*error TS\d+: .*$/m.exec(stdoutText)?.[0] ?? null;
}

async function dropDatabases(serverUrl: string): Promise<void> {
  await onServer(serverUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select datname as name from pg_database where datname ~ '^test_'",
    );
    for (const { name } of rows) await client.query(`drop database ${name} with (force)`);
  });
}

async function onServer(url: string, act: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await act(client);
  } finally {
    await client.end();
  }
}

/** Ends all processes that have our directory for temporary files, in any process group (Linux only). */
function endProcesses(temporary: string): void {
  if (process.platform !== 'linux') return;
  const mark = `TMPDIR=${temporary}\0`;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended meanwhile, or belongs to another user.
    }
  }
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
