// Writes almanac.yml atomically, by a temporary file beside it, and removes those that killed processes have left.
import { accessSync, constants, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { IngestFailure } from '../failure.ts';
import { textOf, type DescriptionFile } from './entry-file.ts';

/** Writes the file whole or not at all. @param file the path. */
export function writeDescription(file: string, description: DescriptionFile): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    // Flushed: after a power failure the new name could otherwise refer to an empty file.
    writeFileSync(temporary, textOf(description), { flush: true });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    failUnwritable(file, error as NodeJS.ErrnoException);
  }
}

/**
 * Checks that the file can be written, before the user answers questions for it.
 * @param file the path of almanac.yml.
 * @throws IngestFailure with the reason.
 */
export function requireWritable(file: string): void {
  try {
    accessSync(path.dirname(file), constants.W_OK);
  } catch (error) {
    failUnwritable(file, error as NodeJS.ErrnoException);
  }
}

function failUnwritable(file: string, cause: NodeJS.ErrnoException): never {
  const folder = path.dirname(file);
  throw new IngestFailure(
    'invalid_file',
    `${file} cannot be written: almanac publish keeps there how the files are loaded. ${reason()}`,
    { cause },
  );

  function reason(): string {
    if (cause.code === 'EROFS') return `${folder} is on a file system that is read-only.`;
    if (cause.code !== 'EACCES' && cause.code !== 'EPERM') return cause.message;
    const owner = statSync(folder, { throwIfNoEntry: false })?.uid;
    return `The user with the id ${process.getuid?.() ?? '?'} may not write in ${folder}, which belongs to the one with the id ${owner ?? '?'}.`;
  }
}

/** Writing takes milliseconds; the rest is for machines whose clocks differ. */
const writtenWithinMs = 10 * 60_000;

/**
 * Deletes the temporary files of processes that were killed while writing. A process id is meaningless for another machine or container
 * that shares the folder: so a file whose process id exists here is kept, and so is a new one.
 * @param file the path of almanac.yml.
 */
export function removeLeftDrafts(file: string): void {
  const folder = path.dirname(file);
  const form = new RegExp(`^${RegExp.escape(path.basename(file))}\\.(\\d+)\\.tmp$`);
  try {
    for (const name of readdirSync(folder)) {
      const pid = form.exec(name)?.[1];
      if (pid === undefined || isRunning(Number(pid))) continue;
      const draft = path.join(folder, name);
      const stats = statSync(draft, { throwIfNoEntry: false });
      if (stats?.isFile() === true && Date.now() - stats.mtimeMs > writtenWithinMs)
        rmSync(draft, { force: true });
    }
  } catch (error) {
    // A user who may not list the folder, or delete another user's file, can still publish.
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Whether another process with this id is running. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
