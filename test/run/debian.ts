// Programs of Debian that a run of tests needs: finds them on the PATH, and installs those that are missing where it may.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';

/**
 * Installs the package of a program that is missing, on Debian and as root. @returns where the program is.
 * @throws Error that says what to install where it cannot.
 */
export function needProgram(program: string, debianPackage: string): string {
  const found = findProgram(program);
  if (found !== undefined) return found;
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) {
    throw new Error(
      `The tests need ${program} on the PATH: install it (Debian: apt-get install ${debianPackage}).`,
    );
  }
  process.stdout.write(`Installing ${debianPackage} for the tests …\n`);
  // Debian starts a service after installing it; policy-rc.d is left alone, the tests never speak to that one.
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', debianPackage],
  ]) {
    const result = spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'] });
    if (result.status !== 0) throw new Error(`apt-get ${args.join(' ')} failed`);
  }
  const installed = findProgram(program);
  if (installed === undefined)
    throw new Error(`${debianPackage} was installed, and ${program} is not on the PATH.`);
  return installed;
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
