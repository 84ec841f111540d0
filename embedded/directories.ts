// The directories that the embedded PostgreSQL uses, for a process that may be root on a machine with other users. The checks prevent root
// from following a link, or from working in a directory that another user has prepared.
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs';
import path from 'node:path';

/** The user that PostgreSQL runs as; empty: this process's own. */
export interface Owner {
  uid?: number;
  gid?: number;
}

/** Where root stores data for the server's user, if DATA_DIR is closed to that user. */
export const systemDirectory = '/var/lib/almanac';

/**
 * Makes DATA_DIR if it is missing.
 * @throws Error if this process is root and others could change what is in it: root would follow a link that they put there.
 */
export function openDataDirectory(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o755 }); // not for groups, whatever the umask
  if (process.getuid?.() !== 0) return;
  const [named, target] = [lstatSync(dataDir), statSync(dataDir)];
  if (named.uid === 0 && target.uid === 0 && (target.mode & 0o002) === 0) return;
  throw new Error(
    `Almanac runs as root, and ${dataDir} belongs to another user, or everybody may write to it. ` +
      'Run Almanac as its owner, give the directory to root (chown root, chmod o-w), or set another DATA_DIR.',
  );
}

/**
 * Creates a directory that all may enter and only this user may change, unless it exists. Its parent must be such a directory, or one of
 * the system's.
 * @throws Error if the name belongs to a link, or to something that another user owns or may write to.
 */
export function openOwnDirectory(directory: string): void {
  if (makeDirectory(directory)) chmodSync(directory, 0o755); // whatever the umask
  const found = lstatSync(directory);
  const isOurs = process.getuid === undefined || found.uid === process.getuid();
  if (found.isDirectory() && isOurs && (found.mode & 0o022) === 0) return;
  throw new Error(
    `${directory} is a link, belongs to another user, or others may write to it. ` +
      'Almanac would run programs from there: it must be a directory of your own that others may not write to (chmod go-w).',
  );
}

/**
 * The data directory of the server: `<dataDir>/postgres`, or `<system>/<name>` if the server's user cannot enter DATA_DIR. It belongs to
 * the server's user afterwards. Only an empty directory of root's changes owner, and a link is followed only if root made it.
 * @throws Error if the name belongs to anything else.
 */
export function openClusterDirectory(directory: string, owner: Owner): string {
  const isNew = makeDirectory(directory, 0o700);
  const { uid, gid } = owner;
  if (uid === undefined || gid === undefined) return directory;
  const named = lstatSync(directory);
  const cluster = named.isSymbolicLink() && named.uid === 0 ? realpathSync(directory) : directory;
  // By its descriptor: the checked directory is the one whose owner changes.
  const opened = openDirectory(cluster);
  try {
    const found = fstatSync(opened);
    if (found.uid !== uid && !(found.uid === 0 && (isNew || readdirSync(cluster).length === 0))) {
      throw new Error(
        `${cluster} belongs to user ${found.uid}, and PostgreSQL would run as user ${uid}: it is not used.`,
      );
    }
    fchmodSync(opened, 0o700);
    fchownSync(opened, uid, gid);
  } finally {
    closeSync(opened);
  }
  return cluster;
}

/** @returns whether the directory was created here; false if the name exists. */
function makeDirectory(directory: string, mode = 0o755): boolean {
  mkdirSync(path.dirname(directory), { recursive: true });
  try {
    mkdirSync(directory, { mode });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

function openDirectory(directory: string): number {
  try {
    return openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    throw new Error(`${directory} is not a directory, or a link that root has not made: it is not used.`, {
      cause: error,
    });
  }
}
