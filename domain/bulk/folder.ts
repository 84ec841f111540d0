// Bulk files in a folder, which several machines may share. Writes use temporary names and survive a power failure.
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { bulkStoredName, manifestName, manifestText, readManifestText, storedName } from './manifest.ts';
import { BulkStoreFault, requireWhole, type BulkStore } from './store.ts';

/** Within the folder of the files, so that a complete file need only be renamed. */
const workshopName = '.unfinished';
const readAtOnce = 256 * 1024;

/** @param directory absolute; created by the first write. */
export function folderStore(directory: string): BulkStore {
  const at = (name: string) => path.join(directory, name);
  const orFault = async <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw faultOf(directory, error);
    });
  return {
    place: directory,
    async readManifest() {
      const text = await orFault(orNothing(readFile(at(manifestName), 'utf8')));
      return text === undefined ? undefined : readManifestText(text);
    },
    replaceManifest: (manifest) => orFault(replace(directory, manifestText(manifest))),
    openWorkshop: () => orFault(emptied(at(workshopName))),
    put: (name, file) => orFault(rename(file, at(name))),
    list: () =>
      orFault(readdir(directory).then((names) => names.filter((name) => bulkStoredName.test(name)))),
    remove: (name) => orFault(rm(at(name), { force: true })),
    head: (file) =>
      orFault(
        orNothing(stat(at(storedName(file)))).then((found) => {
          if (found !== undefined) requireWhole(directory, file, found.size);
          return found !== undefined;
        }),
      ),
    async read(file, { from, to }) {
      const handle = await orFault(orNothing(open(at(storedName(file)))));
      if (handle === undefined) return undefined;
      try {
        requireWhole(directory, file, (await handle.stat()).size);
      } catch (error) {
        await handle.close();
        throw error;
      }
      // An open file can be read to its end, even if it is removed meanwhile.
      return handle.createReadStream({ start: from, end: to, highWaterMark: readAtOnce });
    },
  };
}

function faultOf(directory: string, error: unknown): BulkStoreFault {
  if (error instanceof BulkStoreFault) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new BulkStoreFault(`The folder ${directory} of the bulk files cannot be used: ${reason}`, error);
}

async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function emptied(directory: string): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  return directory;
}

async function replace(directory: string, text: string): Promise<void> {
  await sync(directory); // the names of the files that the manifest has
  const target = path.join(directory, manifestName);
  const temporary = `${target}.tmp`;
  const handle = await open(temporary, 'w', 0o644);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, target);
  await sync(directory);
}

/** Makes the names in a directory survive a power failure. */
async function sync(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
