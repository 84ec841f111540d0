// Temporary folders for what is fetched. Hides how those of processes that were killed are found: the owner of a folder listens on a socket
// in it, which the system closes with the process, so whoever is refused there knows that nobody needs the folder.
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

/** On a file system of several machines a socket is known to that alone which made it. Containers with one hostname share the kernel that knows it. */
const prefix = `almanac-fetch-${createHash('sha256').update(hostname()).digest('hex').slice(0, 8)}-`;
const lockName = 'lock';
/** Of the path of a socket, on all systems. */
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

/** Deletes the folders that killed processes of this machine have left. One that cannot be deleted stays. */
export async function removeLeftFolders(inside = tmpdir()): Promise<void> {
  // Names that this user may not read are those of others.
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

/** @returns undefined where there can be no socket, as on some file systems: nobody deletes such a folder but its owner. */
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
  // Only now, as between its making and its listening a socket refuses.
  await rename(draft, lock);
  return server;
}

/** Whether nobody listens on the socket, although it is there. Of another user it is not known. */
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
