// What a run of tests needs of the system: programs on the PATH and a font. Installs what is missing, on Debian and as root.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { findFont } from '../../data-api/charts/png.ts';

/** @returns where the program is. @throws Error that says what to install where it cannot. */
export function needProgram(program: string, ...debianPackages: readonly string[]): string {
  const found = findProgram(program);
  if (found !== undefined) return found;
  install(`${program} on the PATH`, debianPackages);
  const installed = findProgram(program);
  if (installed === undefined)
    throw new Error(`${debianPackages.join(' ')} was installed, and ${program} is not on the PATH.`);
  return installed;
}

/** A font that charts can be drawn with as PNG. @throws Error that says what to install where it cannot. */
export function needFont(): void {
  if (findFont() === undefined) install('a sans-serif font', ['fonts-dejavu-core']);
}

/** @returns whether this process may install Debian's packages. */
export function canInstall(): boolean {
  return existsSync('/etc/debian_version') && process.getuid?.() === 0;
}

/** Installs packages of Debian. @param what they are for. @throws Error that says what to install where it cannot. */
export function install(what: string, debianPackages: readonly string[]): void {
  const packages = debianPackages.join(' ');
  if (!canInstall())
    throw new Error(`The tests need ${what}: install it (Debian: apt-get install ${packages}).`);
  process.stdout.write(`Installing ${packages} for the tests …\n`);
  // Debian starts a service after installing it; policy-rc.d is left alone, the tests never connect to that one.
  for (const args of [
    ['update', '-qq'],
    // Another lane of CI may be installing.
    ['install', '-y', '-qq', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=300', ...debianPackages],
  ]) {
    const result = spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'] });
    if (result.status !== 0) throw new Error(`apt-get ${args.join(' ')} failed`);
  }
}

function findProgram(program: string): string | undefined {
  const directories = (process.env['PATH'] ?? '').split(path.delimiter).filter((each) => each !== '');
  return directories.map((directory) => path.join(directory, program)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // it is not there, or is no program
  }
}
