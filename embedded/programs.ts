// The directory of the server's programs: in the npm package, or in a copy of it that the server's user can run. Restores what npm drops
// from the package; a copy is used if the package is closed to that user, or may not be changed.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { openOwnDirectory, systemDirectory, type Owner } from './directories.ts';

const programs = ['initdb', 'postgres'];

/**
 * The directory of the programs: the package's own, or a copy if the server's user cannot access the package, or if its links are missing
 * and cannot be created there. The copy is in DATA_DIR; root's in the system's directory, which that user can enter. Neither is shared with
 * other users as /var/tmp is, where another user may have created something under the copy's name.
 * @param native the directory `native` of the platform package.
 */
export function reachablePrograms(
  native: string,
  owner: Owner,
  { dataDir, system = systemDirectory }: { dataDir: string; system?: string },
): string {
  const packageIsWhole = isWhole(native) || (isOurs(native) && completePrograms(native));
  const server = path.join(native, 'bin', 'postgres');
  if (packageIsWhole && (owner.uid === undefined || canEnter(server, owner))) return path.join(native, 'bin');
  const version = createHash('sha256').update(process.arch);
  for (const file of ['pg-symlinks.json', '../package.json'])
    version.update(readFileSync(path.join(native, file)));
  const place = owner.uid === undefined ? dataDir : system;
  openOwnDirectory(place);
  const directory = path.join(place, `programs-${version.digest('hex').slice(0, 12)}`);
  openOwnDirectory(directory);
  const copy = path.join(directory, 'native');
  if (!isWhole(copy)) copyPrograms(native, copy);
  return path.join(copy, 'bin');
}

export function canEnter(directory: string, owner: Owner): boolean {
  return spawnSync('test', ['-x', directory], owner).status === 0;
}

/** Copies all or nothing, even with concurrent copies or if killed. */
function copyPrograms(native: string, copy: string): void {
  const own = mkdtempSync(path.join(path.dirname(copy), 'new-'));
  try {
    const made = path.join(own, 'native');
    cpSync(native, made, { recursive: true, verbatimSymlinks: true });
    completePrograms(made);
    openToAll(made);
    if (existsSync(copy) && !isWhole(copy)) rmSync(copy, { recursive: true });
    if (!existsSync(copy)) renameSync(made, copy);
  } catch (error) {
    if (!isWhole(copy)) throw error; // otherwise another process finished first
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** All may read, and run what its owner may run. Links are left alone: the mode of a link is that of its target, wherever that is. */
function openToAll(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name);
    if (entry.isDirectory()) openToAll(file);
    else if (entry.isFile()) chmodSync(file, (statSync(file).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

/** npm drops symbolic links and may drop the executable bit; the package's own install script would restore them. */
function linksOf(native: string): { link: string; name: string }[] {
  const list = JSON.parse(readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  return list.map(({ source, target }) => ({
    link: path.join(native, '..', target),
    name: path.basename(source),
  }));
}

function isWhole(native: string): boolean {
  const executable = programs.every((name) => {
    const program = path.join(native, 'bin', name);
    return existsSync(program) && (statSync(program).mode & 0o111) === 0o111;
  });
  return executable && linksOf(native).every(({ link }) => existsSync(link));
}

function completePrograms(native: string): true {
  for (const { link, name } of linksOf(native)) if (!existsSync(link)) symlinkSync(name, link);
  for (const program of programs) chmodSync(path.join(native, 'bin', program), 0o755);
  return true;
}

/** Whether a directory is owned by this user. */
function isOurs(directory: string): boolean {
  return process.getuid === undefined || statSync(directory).uid === process.getuid();
}
