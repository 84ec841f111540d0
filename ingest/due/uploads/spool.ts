// The file of an upload as a file of this machine, for as long as it is read. Nothing is found by the name that was given: of it only the ending
// counts.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Queryable } from '../../../kernel/database.ts';
import { makeTemporaryFolder, removeLeftFolders } from '../../read/temporary-folder.ts';
import { IngestFailure } from '../../failure.ts';
import { bytesMaxUsual } from '../../read/fetch.ts';
import { tableEnding } from '../../read/file-kind.ts';
import { readPieces } from '../releases/embargo.sql.ts';

/** What a task needs to know of an upload. */
export interface UploadToRead {
  id: string;
  name: string;
  publication: string;
  /** Of the file, as it was sent. */
  sha256: string;
  /** YYYY-MM-DD. */
  today: string;
  /** The most that the file may have unpacked; default: as a file that is fetched. */
  bytesMax?: number;
}

/**
 * Works on the file of the upload, in a folder that has the name of its publication.
 * @throws IngestFailure if the file is too large unpacked, or cannot be unpacked.
 */
export async function withFile<Result>(
  on: Queryable,
  upload: UploadToRead,
  work: (file: string) => Promise<Result>,
): Promise<Result> {
  await removeLeftFolders(); // of processes that were ended
  const temporary = await makeTemporaryFolder();
  try {
    const folder = path.join(temporary.path, 'upload', upload.publication);
    await mkdir(folder, { recursive: true });
    const file = path.join(folder, `file${endingOf(upload.name)}`);
    await writeUnpacked(on, upload, file);
    return await work(file);
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
    await pipeline(
      Readable.from(readPieces(on, { uploadId: id })),
      createGunzip(),
      limited,
      createWriteStream(file),
    );
  } catch (error) {
    if (!String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw error;
    throw new IngestFailure('invalid_file', 'The gzip file is damaged or cut short.', { cause: error });
  }
}
