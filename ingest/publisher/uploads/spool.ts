// The file of an upload as a file of this machine, for as long as it is read. Hides its folder, in which almanac.yml says how files of that
// name were loaded before. Nothing is found by the name that was given: of it only the ending counts.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Queryable } from '../../../kernel/database.ts';
import { makeTemporaryFolder, removeLeftFolders } from '../../files/temporary-folder.ts';
import { IngestFailure } from '../../load/failure.ts';
import { descriptionFile, tableSchema, type TableDescription } from '../../publish/description.ts';
import { addEntries, emptyDescription, writeDescription } from '../../publish/description-file.ts';
import { bytesMaxUsual } from '../../publish/fetch.ts';
import { entriesFor } from '../../publish/file-groups.ts';
import { planMovedFile, tableEnding, type Plan } from '../../publish/plan.ts';
import { publishedEntries, readUploadPieces } from './uploads.sql.ts';

/** What a task needs to know of an upload. */
export interface UploadToRead {
  id: string;
  name: string;
  publication: string;
  /** YYYY-MM-DD. */
  today: string;
  /** The most that the file may have unpacked; default: as a file that is fetched. */
  bytesMax?: number;
}

export interface Spooled {
  /** The file, whatever its name. */
  file: string;
  plan: Plan;
}

/**
 * Works on the upload as on a file that is published from a folder of its publication.
 * @throws IngestFailure if the file cannot be read.
 */
export async function withUpload<Result>(
  on: Queryable,
  upload: UploadToRead,
  work: (spooled: Spooled) => Promise<Result>,
): Promise<Result> {
  await removeLeftFolders(); // of processes that were ended
  const temporary = await makeTemporaryFolder();
  try {
    const folder = path.join(temporary.path, 'upload', upload.publication);
    await mkdir(folder, { recursive: true });
    const file = path.join(folder, `file${endingOf(upload.name)}`);
    await writeUnpacked(on, upload, file);
    const known = await knownEntries(on, upload);
    if (known.length > 0) {
      const description = emptyDescription(upload.publication);
      addEntries(
        description,
        known.map((entry) => ({ entry, evidence: {}, title: 'as it was published before' })),
      );
      writeDescription(path.join(folder, descriptionFile), description);
    }
    const source = { path: upload.name, file };
    const plan = await planMovedFile(on, folder, source, { facts: {}, again: true, today: upload.today });
    const [unreadable] = plan.unreadable;
    if (unreadable !== undefined)
      throw new IngestFailure('invalid_file', unreadable.reason.replaceAll(file, upload.name));
    return await work({ file, plan });
  } finally {
    await temporary.remove();
  }
}

/** Such as `.csv`; a gzip file is unpacked, so `.csv.gz` is one too. */
const endingOf = (name: string): string =>
  tableEnding.exec(name)?.[0].toLowerCase().replace(/\.gz$/, '') ?? '.csv';

/** The file as the operator had it, unpacked if it was a gzip file. @throws IngestFailure if it is larger than a file may be that is published. */
async function writeUnpacked(
  on: Queryable,
  { id, bytesMax = bytesMaxUsual }: UploadToRead,
  file: string,
): Promise<void> {
  let bytes = 0;
  const limited = new Transform({
    transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback) {
      bytes += chunk.length;
      if (bytes <= bytesMax) done(null, chunk);
      else
        done(
          new IngestFailure(
            'invalid_file',
            `Unpacked, the file has more than ${bytesMax / 1024 / 1024} MB. Divide it.`,
          ),
        );
    },
  });
  try {
    await pipeline(Readable.from(readUploadPieces(on, id)), createGunzip(), limited, createWriteStream(file));
  } catch (error) {
    if (!String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw error;
    throw new IngestFailure('invalid_file', 'The gzip file is damaged or cut short.', { cause: error });
  }
}

/** The newest entries for files of that name, one for each sheet. */
async function knownEntries(on: Queryable, { publication, name }: UploadToRead): Promise<TableDescription[]> {
  const all = (await publishedEntries(on, publication)).flatMap((entry) => {
    const parsed = tableSchema.safeParse(entry); // one of another version is found anew
    return parsed.success ? [parsed.data] : [];
  });
  const bySheet = new Map<string | undefined, TableDescription>();
  for (const entry of entriesFor(name, all)) if (!bySheet.has(entry.sheet)) bySheet.set(entry.sheet, entry);
  return [...bySheet.values()];
}
