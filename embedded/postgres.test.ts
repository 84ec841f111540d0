import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { until } from '../test/run/until.ts';
import { startEmbeddedPostgres } from './postgres.ts';

/** A killed child is a zombie until its parent has read how it ended. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A data directory of its own. */
function dataDirectory(t: ExecutionContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-embedded-'));
  chmodSync(directory, 0o755); // if root runs this, PostgreSQL's own user needs access
  t.teardown(() => rmSync(directory, { recursive: true, maxRetries: 10 }));
  return path.join(directory, 'data');
}

test('a server that was killed is released and stopped without an error', async (t) => {
  const { directory, release, stop } = await startEmbeddedPostgres(dataDirectory(t), { fsync: 'off' });
  const [pid] = readFileSync(path.join(directory, 'postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGKILL');
  await until('it has ended', () => !isAlive(Number(pid)));
  await t.notThrowsAsync(release());
  await t.notThrowsAsync(stop());
});

test('with the password of another database, the error names the file, and no server is left running', async (t) => {
  const dataDir = dataDirectory(t);
  const file = path.join(dataDir, 'postgres.password');
  const fault = (cluster: string) =>
    `${file} does not have the password of the database in ${cluster}: restore that file.`;
  const first = await startEmbeddedPostgres(dataDir, { fsync: 'off' });
  try {
    writeFileSync(file, 'another');
    await t.throwsAsync(startEmbeddedPostgres(dataDir), { message: fault(first.directory) }, 'it runs');
  } finally {
    await first.stop();
  }
  await t.throwsAsync(startEmbeddedPostgres(dataDir), { message: fault(first.directory) }, 'it is stopped');
  t.false(existsSync(path.join(first.directory, 'postmaster.pid')));
});
