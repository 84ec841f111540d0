// Temporary folders for fetched files. The owner of a folder listens on a socket in it, which the system closes with the process: if a
// connection is refused, the owner was killed and the folder can be deleted.
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';

export interface TemporaryFolder {
  path: string;
  /** Deletes it. */
  remove(): Promise<void>;
}

/**
 * On a file system shared by several machines, only the machine that made a socket knows it. Containers with one hostname share the kernel
 * that knows it.
 */
const prefix = `almanac-fetch-${createHash('sha256').update(hostname()).digest('hex').slice(0, 8)}-`;
const lockName = 'lock';
/** The maximum length of the path of a socket, on all systems. */
const socketPathMax = 100;

/** A folder for this process. @param inside default: the one for temporary files. @throws Error of the system if it cannot be made. */
export async function makeTemporaryFolder(inside = tmpdir()): Promise<TemporaryFolder> {
  const folder = await mkdtemp(path.join(inside, prefix));
  const lock = await listenIn(folder);
  return {
    path: folder,
    async remove() {
      lock?.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Deletes the folders that killed processes of this machine have left. Folders that cannot be deleted stay. */
export async function removeLeftFolders(inside = tmpdir()): Promise<void> {
  // Names that this user may not read belong to others.
  const all = await readdir(inside).catch(() => []);
  const names = all.filter((name) => name.startsWith(prefix));
  await Promise.all(
    names.map(async (name) => {
      const folder = path.join(inside, name);
      if (await isLeft(path.join(folder, lockName)))
        // Another process may be deleting it, too.
        await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    }),
  );
}

/** @returns undefined if no socket can be created, as on some file systems: then only its owner deletes such a folder. */
async function listenIn(folder: string): Promise<Server | undefined> {
  const lock = path.join(folder, lockName);
  if (process.platform === 'win32' || Buffer.byteLength(lock) > socketPathMax) return undefined;
  const server = createServer((socket) => void socket.destroy());
  server.unref();
  const draft = `${lock}.new`;
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(draft, () => resolve(true));
  });
  if (!isListening) return undefined;
  // Only now: between its creation and listening, a socket refuses connections.
  await rename(draft, lock);
  return server;
}

/** Whether the socket exists but nobody listens on it. Unknown for the socket of another user. */
function isLeft(lock: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(lock);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
  });
}
