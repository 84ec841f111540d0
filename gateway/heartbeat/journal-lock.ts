// The directory of this gateway under JOURNAL_DIR. No other gateway uses it while this one runs. Hides the lock: SQLite takes it on a file, and
// the operating system frees it however the process ends. docs/decisions/0016-journal-lock.md has the reasons.
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Log } from '../../kernel/log/log.ts';
import { isJournalFile } from './journal-file.ts';

export interface ClaimedDirectory {
  path: string;
  /** Lets other gateways have it. */
  release(): void;
}

/**
 * Claims the first free directory, and takes over the batches of ended gateways from it and from the other free ones.
 * @param root JOURNAL_DIR; created if it is missing.
 * @throws Error if it cannot be created, or its file system has no locks.
 */
export function claimDirectory(root: string, log: Pick<Log, 'warn'>): ClaimedDirectory {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const there = directoriesIn(root);
  const free = there.flatMap((directory) => {
    const lock = lockOf(directory, log);
    return lock === undefined ? [] : [{ directory, lock }];
  });
  const [own = newDirectory(root, there.length), ...others] = free;
  for (const { directory, lock } of others) {
    for (const name of readdirSync(directory).filter(isJournalFile))
      renameSync(path.join(directory, name), path.join(own.directory, name));
    lock.close();
  }
  return { path: own.directory, release: () => own.lock.close() };
}

/** In the order of their numbers. Those of older versions have the number of a port. */
function directoriesIn(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^\d{1,9}$/.test(entry.name))
    .map(({ name }) => Number(name))
    .toSorted((a, b) => a - b)
    .map((number) => path.join(root, String(number)));
}

interface Locked {
  directory: string;
  lock: DatabaseSync;
}

/** @param tried the number of existing directories: another gateway may make the next one at the same time. */
function newDirectory(root: string, tried: number): Locked {
  for (let number = 1; number <= 2 * tried + 1_000; number += 1) {
    const directory = path.join(root, String(number));
    if (mkdirSync(directory, { recursive: true, mode: 0o700 }) === undefined) continue; // it exists
    try {
      return { directory, lock: lock(directory) };
    } catch (error) {
      if (isInUse(error)) continue;
      throw new Error(
        `The journal of usage cannot be locked in ${directory}: JOURNAL_DIR must be on a file system with locks (an NFS mount without "nolock").`,
        { cause: error },
      );
    }
  }
  throw new Error(`${root} has no place for another journal.`);
}

/** @returns undefined if another gateway has it, or it is not ours to use. */
function lockOf(directory: string, log: Pick<Log, 'warn'>): DatabaseSync | undefined {
  try {
    return lock(directory);
  } catch (error) {
    if (!isInUse(error)) log.warn({ err: error, directory }, 'A directory of JOURNAL_DIR cannot be locked');
    return undefined;
  }
}

/** @throws Error if it is locked, or cannot be. */
function lock(directory: string): DatabaseSync {
  const database = new DatabaseSync(path.join(directory, 'lock'), { timeout: 0 });
  try {
    database.exec('pragma journal_mode = memory; begin exclusive');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const sqliteBusy = 5;

function isInUse(error: unknown): boolean {
  const { errcode } = error as { errcode?: unknown };
  return typeof errcode === 'number' && (errcode & 0xff) === sqliteBusy;
}
