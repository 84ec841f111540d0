// The system requirements of a test run: programs on the PATH and a font. Installs missing ones on Debian, as root.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { findFont } from '../../data-api/charts/png.ts';

/** @returns the path of the program. @throws Error that names the package to install, if it cannot be installed here. */
export function needProgram(program: string, ...debianPackages: readonly string[]): string {
  const found = findProgram(program);
  if (found !== undefined) return found;
  install(`${program} on the PATH`, debianPackages);
  const installed = findProgram(program);
  if (installed === undefined)
    throw new Error(`${debianPackages.join(' ')} was installed, and ${program} is not on the PATH.`);
  return installed;
}

/** Requires a font for charts as PNG. @throws Error that names the package to install, if it cannot be installed here. */
export function needFont(): void {
  if (findFont() === undefined) install('a sans-serif font', ['fonts-dejavu-core']);
}

/** @returns whether this process may install Debian's packages. */
export function canInstall(): boolean {
  return existsSync('/etc/debian_version') && process.getuid?.() === 0;
}

/** Installs Debian packages. @param what their purpose. @throws Error that names the packages, if they cannot be installed here. */
export function install(what: string, debianPackages: readonly string[]): void {
  const packages = debianPackages.join(' ');
  if (!canInstall())
    throw new Error(`The tests need ${what}: install it (Debian: apt-get install ${packages}).`);
  process.stdout.write(`Installing ${packages} for the tests …\n`);
  // Debian starts a service after installing it. policy-rc.d is not changed, as the tests never connect to that service.
  for (const args of [
    ['update', '-qq'],
    // Another CI job on this machine may be installing.
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
    return false; // it does not exist, or is not a program
  }
}
