// Copies the file of an upload from the database into a temporary folder while it is read. Only the ending of its name is used.
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable, Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Queryable } from '../../../kernel/database.ts';
import { fail } from '../../../kernel/errors.ts';
import { makeTemporaryFolder, removeLeftFolders } from '../../read/temporary-folder.ts';
import { IngestFailure } from '../../failure.ts';
import { bytesMaxUsual } from '../../read/fetch-url.ts';
import { tableEnding } from '../../read/file-kind.ts';
import { readPieces } from '../releases/embargo.sql.ts';
import { hasUpload } from './uploads.sql.ts';

/** The upload, as passed to a task. */
export interface UploadToRead {
  id: string;
  /** The file name, as sent. */
  name: string;
  publication: string;
  /** SHA-256 of the file, in hexadecimal. */
  sha256: string;
  /** YYYY-MM-DD. */
  today: string;
  /** The maximum unpacked size; default: that of fetched files. */
  bytesMax?: number;
}

/**
 * Works on the file of the upload, in a folder named after its publication.
 * @throws IngestFailure if the file is too large unpacked, or cannot be unpacked; Failure `conflict` if the upload is gone.
 */
export async function withFile<Result>(
  on: Queryable,
  upload: UploadToRead,
  work: (file: string) => Promise<Result>,
): Promise<Result> {
  await removeLeftFolders(); // left by processes that were killed
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

/** @throws Failure `conflict` always. */
export function refuseGone(): never {
  fail('conflict', 'The upload was published or deleted meanwhile; nothing was published by this call.');
}

/** Such as `.csv`. A gzip file is unpacked, so `.csv.gz` gives `.csv` too. */
const endingOf = (name: string): string =>
  tableEnding.exec(name)?.[0].toLowerCase().replace(/\.gz$/, '') ?? '.csv';

/** The operator's file, unpacked if it was gzip. @throws IngestFailure if it is larger than a published file may be. */
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
            `Unpacked, the file is larger than ${bytesMax / 1024 / 1024} MB. Split it.`,
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
    if (!(await hasUpload(on, id))) refuseGone();
    throw new IngestFailure('invalid_file', 'The gzip file is damaged or cut short.', { cause: error });
  }
}
