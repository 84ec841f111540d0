// Whether the disk of the embedded PostgreSQL has space left.
import { statfs } from 'node:fs/promises';
import { fail } from '../kernel/errors.ts';

// A segment of its log: without space for the next one the server stops.
const neededBytes = 16 * 2 ** 20;

/** @throws Failure `unavailable` that names the directory if its disk has less space than the server needs to go on writing. */
export async function requireSpace(directory: string, needed = neededBytes): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < needed) fail('unavailable', fullDisk(directory));
}

/** Whether a statement failed because the disk is full: SQLSTATE 53100, in the error itself or in its cause. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && error.code === '53100') return true;
  return isDiskFull(error.cause ?? ('parent' in error ? error.parent : undefined)); // `parent` is Sequelize's
}

/** For the message of a statement that failed because the disk is full. */
export function fullDisk(directory: string): string {
  return `The disk of ${directory} is full: the database cannot write. Free some space there.`;
}
