import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openClusterDirectory, openDataDirectory, openOwnDirectory } from './directories.ts';
import { reachablePrograms } from './programs.ts';

const isRoot = process.getuid?.() === 0;
/** Another user of the machine. Only root can make things in its name. */
const stranger = 65_534;
const server = { uid: 12_345, gid: 12_345 };

function scratch(t: ExecutionContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-directories-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** All properties of a path that a fault could change. */
function stateOf(file: string) {
  const { uid, gid, mode } = lstatSync(file);
  return { uid, gid, mode, entries: lstatSync(file).isDirectory() ? readdirSync(file) : [] };
}

test('a directory that programs are run from is made, or was made by this user for itself alone; the name may be no link', (t) => {
  const parent = scratch(t);
  const own = path.join(parent, 'own');
  openOwnDirectory(own);
  openOwnDirectory(own);
  t.is(statSync(own).mode & 0o777, 0o755);

  const target = path.join(parent, 'target');
  mkdirSync(target, { mode: 0o700 });
  const link = path.join(parent, 'link');
  symlinkSync(target, link);
  const dangling = path.join(parent, 'dangling');
  symlinkSync(path.join(parent, 'nowhere'), dangling);
  const file = path.join(parent, 'file');
  writeFileSync(file, '');
  const shared = path.join(parent, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o777);
  const refused = [link, dangling, file, shared];
  if (isRoot) {
    const theirs = path.join(parent, 'theirs');
    mkdirSync(theirs);
    chownSync(theirs, stranger, stranger);
    refused.push(theirs);
  }
  const before = [...refused, target].map(stateOf);
  for (const name of refused)
    t.throws(() => openOwnDirectory(name), { message: /must be a directory of your own .*chmod go-w/ }, name);
  t.deepEqual([...refused, target].map(stateOf), before, 'and nothing is changed');
  t.false(existsSync(path.join(parent, 'nowhere')));
});

test('programs may be run from a data directory that was made under a umask for groups', (t) => {
  const made = path.join(scratch(t), 'deep', 'data');
  const program = `
    const { openDataDirectory, openOwnDirectory } = await import(${JSON.stringify(new URL('directories.ts', import.meta.url))});
    openDataDirectory(process.argv[1]);
    openOwnDirectory(process.argv[1]);`;
  const script = 'umask 002 && exec "$0" --input-type=module --eval "$1" "$2"';
  execFileSync('sh', ['-c', script, process.execPath, program, made]);
  t.is(statSync(made).mode & 0o777, 0o755);
});

test('root opens no data directory that another user made, linked, or may write to', (t) => {
  const parent = scratch(t);
  const own = path.join(parent, 'deep', 'own');
  openDataDirectory(own);
  openDataDirectory(own);
  const link = path.join(parent, 'link');
  symlinkSync(own, link);
  t.notThrows(() => openDataDirectory(link));
  if (!isRoot) return;

  const theirs = path.join(parent, 'theirs');
  mkdirSync(theirs);
  chownSync(theirs, stranger, stranger);
  const shared = path.join(parent, 'shared');
  mkdirSync(shared);
  chmodSync(shared, 0o777);
  const theirLink = path.join(parent, 'their-link');
  symlinkSync(own, theirLink);
  lchownSync(theirLink, stranger, stranger);
  const linkToTheirs = path.join(parent, 'link-to-theirs');
  symlinkSync(theirs, linkToTheirs);
  for (const name of [theirs, shared, theirLink, linkToTheirs])
    t.throws(() => openDataDirectory(name), { message: /another DATA_DIR/ }, name);
  t.deepEqual(readdirSync(own), []);
});

test('root gives PostgreSQL’s user its own directory, an empty one, or one that root has linked, and no other', (t) => {
  const parent = scratch(t);
  const fresh = path.join(parent, 'fresh');
  if (!isRoot) {
    t.is(openClusterDirectory(fresh, {}), fresh);
    t.is(statSync(fresh).mode & 0o777, 0o700);
    return;
  }
  const ownerOf = (name: string) => statSync(name).uid;
  t.is(openClusterDirectory(fresh, server), fresh);
  writeFileSync(path.join(fresh, 'PG_VERSION'), '18');
  t.is(openClusterDirectory(fresh, server), fresh, 'as on every later start');
  t.deepEqual([ownerOf(fresh), statSync(fresh).mode & 0o777], [server.uid, 0o700]);
  const moved = path.join(parent, 'moved');
  symlinkSync(fresh, moved);
  t.is(openClusterDirectory(moved, server), fresh, 'an operator may have moved it to another disk');

  const ofRoot = path.join(parent, 'of-root');
  mkdirSync(ofRoot);
  writeFileSync(path.join(ofRoot, 'secret'), '');
  const theirs = path.join(parent, 'theirs');
  mkdirSync(theirs);
  chownSync(theirs, stranger, stranger);
  const link = path.join(parent, 'link');
  const empty = path.join(parent, 'empty');
  mkdirSync(empty);
  symlinkSync(empty, link);
  lchownSync(link, stranger, stranger);
  const file = path.join(parent, 'file');
  writeFileSync(file, '');
  const refused = [ofRoot, theirs, link, file];
  const before = [...refused, empty].map(stateOf);
  for (const name of refused)
    t.throws(() => openClusterDirectory(name, server), { message: /not used/ }, name);
  t.deepEqual([...refused, empty].map(stateOf), before, 'and nothing is changed');
});

/** A package as npm leaves it: without its links and its executable bits. One of its links leads out of it. */
function packageIn(directory: string, outside: string): string {
  const native = path.join(directory, 'package', 'native');
  mkdirSync(path.join(native, 'bin'), { recursive: true });
  mkdirSync(path.join(native, 'lib'));
  for (const name of ['initdb', 'postgres']) {
    writeFileSync(path.join(native, 'bin', name), '#!/bin/sh\n');
    chmodSync(path.join(native, 'bin', name), 0o600);
  }
  writeFileSync(path.join(native, 'lib', 'libpq.so.5.18'), '');
  chmodSync(path.join(native, 'lib', 'libpq.so.5.18'), 0o600);
  symlinkSync(outside, path.join(native, 'lib', 'outside'));
  writeFileSync(
    path.join(native, 'pg-symlinks.json'),
    JSON.stringify([{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so' }]),
  );
  writeFileSync(path.join(native, '..', 'package.json'), '{"version":"18.4.0"}');
  return native;
}

test('programs that PostgreSQL’s user cannot reach are copied to a directory of root’s own, and no link changes a file outside', (t) => {
  const directory = scratch(t);
  chmodSync(directory, 0o755);
  const outside = path.join(directory, 'outside');
  writeFileSync(outside, '');
  chmodSync(outside, 0o600);
  const native = packageIn(directory, outside);
  const places = { dataDir: path.join(directory, 'data'), system: path.join(directory, 'system') };
  t.is(reachablePrograms(native, {}, places), path.join(native, 'bin'), 'one’s own package is completed');
  t.is(readFileSync(path.join(native, 'lib', 'libpq.so'), 'utf8'), '');
  if (!isRoot) return;

  chmodSync(path.dirname(native), 0o700);
  const bin = reachablePrograms(native, server, places);
  t.regex(path.relative(places.system, bin), /^programs-[0-9a-f]{12}\/native\/bin$/);
  const copy = path.dirname(bin);
  const modeOf = (...names: string[]) => statSync(path.join(copy, ...names)).mode & 0o777;
  t.deepEqual(
    [modeOf(), modeOf('bin'), modeOf('bin', 'postgres'), modeOf('lib', 'libpq.so.5.18')],
    [0o755, 0o755, 0o755, 0o644],
  );
  t.is(statSync(outside).mode & 0o777, 0o600);
  t.deepEqual(readdirSync(path.join(copy, '..')), ['native'], 'nothing else is left');
  t.is(reachablePrograms(native, server, places), bin);

  writeFileSync(path.join(native, '..', 'package.json'), '{"version":"18.5.0"}');
  t.not(reachablePrograms(native, server, places), bin, 'another release has a copy of its own');

  rmSync(places.system, { recursive: true });
  symlinkSync(path.join(directory, 'data'), places.system);
  t.throws(() => reachablePrograms(native, server, places), { message: /is a link/ });
});

test('programs of a package that is not ours to complete are copied into DATA_DIR', (t) => {
  if (!isRoot) {
    t.pass('only root can make a package in the name of another');
    return;
  }
  const directory = scratch(t);
  const native = packageIn(directory, directory);
  chownSync(native, stranger, stranger);
  const places = { dataDir: path.join(directory, 'data'), system: path.join(directory, 'system') };
  const bin = reachablePrograms(native, {}, places);
  t.regex(path.relative(places.dataDir, bin), /^programs-[0-9a-f]{12}\/native\/bin$/);
  t.false(existsSync(path.join(native, 'lib', 'libpq.so')));
});
