// The directory for the files of test runs: TMPDIR if set, otherwise memory if there is enough, otherwise /tmp.
import { existsSync, readFileSync, statfsSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const memory = '/dev/shm';
const plentyBytes = 4 * 2 ** 30;

/**
 * The directory in which a run creates its own. Every user can enter it: if root runs the tests, PostgreSQL runs as another user. A database is
 * cloned for nearly every test file, with 700 small files each: 20 ms of CPU in memory, 200 to 300 on ext4 (2026-11-22).
 */
export function scratchDirectory(): string {
  if (process.env['TMPDIR'] !== undefined && isOpenToAll(tmpdir())) return tmpdir();
  return hasSpace() ? memory : '/tmp';
}

function isOpenToAll(place: string): boolean {
  const isOpen = (statSync(place).mode & 0o001) !== 0;
  return isOpen && (path.dirname(place) === place || isOpenToAll(path.dirname(place)));
}

/** Whether there is a file system in memory that has space for several runs and allows executing programs. */
function hasSpace(): boolean {
  if (!existsSync('/proc/mounts') || !existsSync(memory)) return false;
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n').map((line) => line.split(' ')); // prettier-ignore
  const options = mounts.find(([, place, type]) => place === memory && type === 'tmpfs')?.[3]?.split(',');
  const { bavail, bsize } = statfsSync(memory);
  return options !== undefined && !options.includes('noexec') && bavail * bsize > plentyBytes;
}
