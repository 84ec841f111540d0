import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { isDiskFull, requireSpace } from '../../embedded/disk.ts';
import { startChild } from '../run/processes.ts';
import type { Found } from './full-disk-scenario.ts';

// A file system that ends with the process that made it: a mount namespace of its own, and for a user who is not root a user
// namespace as well. A machine that allows neither, as macOS, has no such file system.
const isRoot = process.getuid?.() === 0;
const ownMounts = isRoot
  ? ['--mount', '--propagation', 'private']
  : ['--user', '--map-current-user', '--keep-caps', '--mount', '--propagation', 'private'];
const mayMount = (directory: string) =>
  spawnSync('unshare', [...ownMounts, 'mount', '-t', 'tmpfs', 'tmpfs', directory]).status === 0;
const size = '160m'; // a new installation with its demo data uses about 75 MB

test('while the disk of the embedded database is full, /readyz is 503, a check names the directory, and reads go on', async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-full-'));
  chmodSync(directory, 0o755);
  if (!mayMount(directory)) {
    t.pass('this machine gives no small file system');
    return;
  }
  const scenario = path.join(import.meta.dirname, 'full-disk-scenario.ts');
  const script = `mount -t tmpfs -o size=${size},mode=755 tmpfs '${directory}' && exec '${process.execPath}' '${scenario}'`;
  const child = startChild('unshare', [...ownMounts, 'sh', '-c', script], {
    name: 'the scenario of a full disk',
    env: { ...process.env, TMPDIR: directory },
  });
  t.teardown(() => child.end('SIGKILL'));
  t.is(await child.exit(170_000), 0, child.output());
  const found = JSON.parse(/^\{"dataDir".*$/m.exec(child.output())?.[0] ?? '{}') as Found;

  const [before, full, after] = found.ready;
  t.deepEqual(before, { status: 200, message: '' });
  t.is(full?.status, 503);
  t.is(
    full?.message,
    'This gateway cannot serve calls at the moment. The reason is in its log, and at /readyz of its metrics port.',
  );
  t.is(found.read.status, 200);
  t.true(found.read.series > 0);
  t.is(found.load.code, 1);
  t.true(
    found.load.output.includes(`almanac: The disk of ${found.dataDir}/postgres is full`),
    found.load.output,
  );
  t.regex(found.load.output, /because: .*No space left on device/, 'it is PostgreSQL that failed');
  t.is(found.check.code, 1);
  t.regex(found.check.output, /^database +failed: The disk of .*postgres is full/m);
  t.deepEqual(after, { status: 200, message: '' });
  t.is(found.loadAgain.code, 0, found.loadAgain.output);
  t.regex(found.loadAgain.output, /40000 new/);
});

test('a disk with less space than PostgreSQL needs for its log is full, and the SQL errors that report this are recognised', async (t) => {
  const directory = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-disk-')), 'postgres');
  mkdirSync(directory);
  await t.notThrowsAsync(requireSpace(directory));
  await t.throwsAsync(requireSpace(directory, Number.MAX_SAFE_INTEGER), {
    code: 'unavailable',
    message: new RegExp(`The disk of ${directory} is full`),
  });
  const full = Object.assign(new Error('could not extend file'), { code: '53100' });
  t.true(isDiskFull(full));
  t.true(isDiskFull(new Error('the load failed', { cause: full })));
  t.true(isDiskFull(Object.assign(new Error('of Sequelize'), { parent: full })));
  for (const other of [new Error('x'), Object.assign(new Error('x'), { code: '53300' }), '53100', undefined])
    t.false(isDiskFull(other));
});
