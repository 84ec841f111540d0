// Claims a directory under JOURNAL_DIR for this gateway while it runs. SQLite locks a file in it; the operating system releases the lock however the
// process ends. docs/decisions/0016-journal-lock.md has the reasons.
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Log } from '../../kernel/log/log.ts';
import { isJournalFile } from './journal-file.ts';

const sqliteBusy = 5;

/** The locks of this process. A lock that nothing referred to would end when its database is garbage-collected. */
const openLocks = new Set<DatabaseSync>();

export interface ClaimedDirectory {
  path: string;
  /** Releases the directory for other gateways. */
  release(): void;
}

/**
 * Claims the first free directory, and takes over the batches that ended gateways left in it and in the other free ones.
 * @param root JOURNAL_DIR; created if it is missing.
 * @throws Error if it cannot be created, or its file system does not support locks.
 */
export function claimDirectory(root: string, log: Pick<Log, 'warn'>): ClaimedDirectory {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  let own: ClaimedDirectory | undefined;
  for (const directory of directoriesIn(root)) {
    const free = claimIfFree(directory, log);
    if (own === undefined || free === undefined) {
      own ??= free;
      continue;
    }
    for (const name of readdirSync(directory).filter(isJournalFile))
      renameSync(path.join(directory, name), path.join(own.path, name));
    free.release();
  }
  return own ?? newDirectory(root);
}

/** Sorted by number. */
function directoriesIn(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^\d{1,9}$/.test(entry.name))
    .map(({ name }) => Number(name))
    .toSorted((a, b) => a - b)
    .map((number) => path.join(root, String(number)));
}

function newDirectory(root: string): ClaimedDirectory {
  for (let number = 1; ; number += 1) {
    const directory = path.join(root, String(number));
    if (mkdirSync(directory, { recursive: true, mode: 0o700 }) === undefined) continue; // it exists
    try {
      const own = lock(directory);
      if (own !== undefined) return own; // otherwise another gateway was faster
    } catch (error) {
      throw new Error(
        `The journal of usage cannot be locked in ${directory}: JOURNAL_DIR must be on a file system with locks (an NFS mount without "nolock").`,
        { cause: error },
      );
    }
  }
}

/** @returns undefined if another gateway has locked it, or it is not one of ours. */
function claimIfFree(directory: string, log: Pick<Log, 'warn'>): ClaimedDirectory | undefined {
  try {
    return lock(directory);
  } catch (error) {
    log.warn({ err: error, directory }, 'A directory of JOURNAL_DIR cannot be locked');
    return undefined;
  }
}

/** @returns undefined if another gateway has locked it. @throws Error if it cannot be locked. */
function lock(directory: string): ClaimedDirectory | undefined {
  const database = new DatabaseSync(path.join(directory, 'lock'), { timeout: 0 });
  try {
    database.exec('pragma journal_mode = memory; begin exclusive');
    openLocks.add(database);
    return {
      path: directory,
      release() {
        openLocks.delete(database);
        database.close();
      },
    };
  } catch (error) {
    database.close();
    const { errcode } = error as { errcode?: unknown };
    if (typeof errcode === 'number' && (errcode & 0xff) === sqliteBusy) return undefined;
    throw error;
  }
}
