// Bulk files in a bucket of an S3-compatible store: the client, uploads in parts, and errors of the store in terms of the settings.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import { S3Client, S3Errors } from '@bradenmacdonald/s3-lite-client';
import { createDeadline } from '../../kernel/deadline.ts';
import type { BucketSettings } from '../../kernel/settings/bulk-place.ts';
import { bulkStoredName, manifestName, manifestText, readManifestText, storedName } from './manifest.ts';
import { BulkStoreFault, requireWhole, type BulkStore, type Whole } from './store.ts';

/** The timeout until a response begins; its bytes may take longer. */
const answerWithinMs = 10_000;
/** Larger files are sent in parts of this size; four are in memory. A file has 10,000 parts at most. */
const partBytes = 16 * 1024 * 1024;
const fileType = 'application/vnd.apache.parquet';
const manifestType = 'application/json';

export function bucketStore(bucket: BucketSettings): BulkStore {
  const { endpoint, prefix, isPathStyle, accessKeyId: accessKey, secretAccessKey: secretKey } = bucket;
  const place = `bucket ${bucket.bucket} of ${endpoint}`;
  const client = new S3Client({
    ...{ endPoint: endpoint, region: bucket.region, bucket: bucket.bucket },
    ...{ pathStyle: isPathStyle, accessKey, secretKey },
  });
  const ask = <T>(work: () => Promise<T>) => asked(place, work);
  return {
    place,
    async readManifest() {
      const answer = await ask(() => orNothing(client.getObject(prefix + manifestName)));
      const text = await answer?.text().catch((error: unknown) => {
        throw faultOf(place, error);
      });
      return text === undefined ? undefined : readManifestText(text);
    },
    async replaceManifest(manifest) {
      const metadata = { 'Content-Type': manifestType };
      await ask(() => client.putObject(prefix + manifestName, manifestText(manifest), { metadata }));
    },
    openWorkshop: () => emptied(workshopOf(place + prefix)),
    async put(name, file) {
      const metadata = { 'Content-Type': fileType };
      const bytes = Readable.toWeb(createReadStream(file)) as ReadableStream<Uint8Array>;
      try {
        await client.putObject(prefix + name, bytes, { metadata, partSize: partBytes });
      } catch (error) {
        throw faultOf(place, error);
      }
      await rm(file);
    },
    list: () =>
      ask(async () => {
        const names: string[] = [];
        for await (const { key } of client.listObjects({ prefix })) names.push(key.slice(prefix.length));
        return names.filter((name) => bulkStoredName.test(name));
      }),
    remove: (name) =>
      ask(async () => {
        await orNothing(client.deleteObject(prefix + name));
      }),
    async head(file) {
      const found = await ask(() => orNothing(client.statObject(prefix + storedName(file))));
      if (found !== undefined) requireWhole(place, file, found.size);
      return found !== undefined;
    },
    async read(file, range) {
      const answer = await ask(() => orNothing(beginRead(client, prefix + storedName(file), file, range)));
      if (answer === undefined) return undefined;
      const found = sizeOf(answer);
      if (found !== file.bytes || answer.body === null) {
        await answer.body?.cancel();
        requireWhole(place, file, found);
      }
      return Readable.fromWeb(answer.body as WebStream<Uint8Array>);
    },
  };
}

/** The range of a whole file: some stores would answer it with the whole file. */
function beginRead(
  client: S3Client,
  key: string,
  { bytes }: Whole,
  { from, to }: { from: number; to: number },
): Promise<Response> {
  if (from === 0 && to === bytes - 1) return client.getObject(key);
  return client.getPartialObject(key, { offset: from, length: to - from + 1 });
}

/** The facts of the object in a response, or of the object of a range. */
function sizeOf({ headers }: Response): number {
  const range = headers.get('content-range');
  return Number(range === null ? headers.get('content-length') : range.split('/')[1]);
}

/** Retries once if the store could not be reached, or failed temporarily. @throws BulkStoreFault. */
async function asked<T>(place: string, work: () => Promise<T>): Promise<T> {
  const deadline = createDeadline(answerWithinMs);
  const once = () => {
    const pending = work();
    return deadline.wait(pending).catch((error: unknown) => {
      pending.then(dropped, () => undefined); // it may still respond
      throw error;
    });
  };
  try {
    return await once().catch((error: unknown) => {
      if (isRefusal(error)) throw error;
      return once();
    });
  } catch (error) {
    throw faultOf(place, error);
  }
}

async function dropped(answer: unknown): Promise<void> {
  if (answer instanceof Response) await answer.body?.cancel();
}

const isRefusal = (error: unknown) =>
  error instanceof S3Errors.ServerError && error.statusCode < 500 && error.statusCode !== 429;

async function orNothing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    // The response to HEAD has no error code.
    const isAbsent =
      error instanceof S3Errors.ServerError && error.statusCode === 404 && error.code !== 'NoSuchBucket';
    if (isAbsent) return undefined;
    throw error;
  }
}

/** The remedy for an error of the store. */
const advice: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'The store does not know AWS_ACCESS_KEY_ID.',
  SignatureDoesNotMatch: 'AWS_SECRET_ACCESS_KEY is not the secret of AWS_ACCESS_KEY_ID.',
  AuthorizationHeaderMalformed: 'BULK_S3_REGION is not the region of the bucket, perhaps.',
  UnexpectedRedirect: 'BULK_S3_ENDPOINT or BULK_S3_REGION is not that of the bucket.',
  AccessDenied: 'The key lacks a permission for this: docs/bulk.md lists the required ones.',
  NoSuchBucket: 'There is no bucket of the name BULK_S3_BUCKET.',
  RequestTimeTooSkewed: 'The clock of this machine is off.',
};

function faultOf(place: string, error: unknown): BulkStoreFault {
  if (error instanceof BulkStoreFault) return error;
  if (error instanceof S3Errors.ServerError) {
    const hint = advice[error.code] === undefined ? '' : ` ${advice[error.code]}`;
    return new BulkStoreFault(
      `The ${place} refuses, with ${error.statusCode} ${error.code}: ${error.message}${hint}`,
      error,
    );
  }
  const { cause } = error as { cause?: { code?: string; message?: string } };
  const reason = cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : String(error));
  return new BulkStoreFault(`The ${place} does not answer: ${reason}`, error);
}

/** The same for all writes, so that each finds the leftovers of one that was killed. */
function workshopOf(place: string): string {
  const id = createHash('sha256').update(place).digest('hex').slice(0, 16);
  return path.join(tmpdir(), `almanac-bulk-${id}`);
}

async function emptied(directory: string): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return directory;
}
