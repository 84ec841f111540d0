// /v1/operator/uploads: the upload of a file, its detected tables, and its deletion. It is stored in pieces as it arrives, and read in a
// child process.
import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { z } from 'zod';
import { dateIn } from '../../kernel/clock.ts';
import { memberOf } from '../../kernel/entries.ts';
import { Failure, fail } from '../../kernel/errors.ts';
import { listParams } from '../../kernel/http/list.ts';
import { inMemory, page } from '../../kernel/http/pages.ts';
import { faultText } from '../../kernel/http/params.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { IngestFailure } from '../failure.ts';
import { ProcessEnded } from '../publisher/child-process/run-in-child.ts';
import { insertPiece } from '../publisher/releases/embargo.sql.ts';
import { storePieces } from '../publisher/releases/stored-file.ts';
import {
  completeUpload,
  deleteUpload,
  findUpload,
  insertUpload,
  listUploads,
  type NewUpload,
  type Upload,
} from '../publisher/uploads/uploads.sql.ts';
import {
  uploadArrivalMs,
  uploadLifetimeMs,
  uploadsPerAccountMax,
} from '../publisher/uploads/upload-limits.ts';
import { endpoint, type OperatorDeps } from './endpoint.ts';
import {
  nameParam,
  publicationParam,
  rowOf,
  uploadOf,
  uploadRowSchema,
  uploadSchema,
} from './uploads-schema.ts';

/** Less than the gateway's timeout of a minute. */
const readWithinMs = 50_000;

const params = { id: z.string().describe('An id of `/v1/operator/uploads`.') };

export const uploadFile = endpoint({
  summary: 'Accepts a file, and returns its tables and how they would be published.',
  description:
    'The body is the file, at most `UPLOAD_MB`. It is stored for 24 hours, or until it is published. The limit is ten uploads per account.',
  requester: 'operator',
  query: {
    name: nameParam.describe(
      'The name of the file, a label. Its extension gives the format, and a date in it the date of the data.',
    ),
    publication: publicationParam
      .default('uploads')
      .describe(
        'The `name` of an almanac.yml: this file is read like earlier files of the same name that were published under it.',
      ),
  },
  acceptsFile: true,
  answers: { 201: uploadSchema },
  errors: ['invalid_body', 'invalid_request', 'conflict', 'unavailable'],
  handler: async (deps, { requester, query, request, call }) => {
    const { database, releaseClock } = deps;
    const createdAt = await releaseClock.now(database);
    const upload: NewUpload = {
      ...{ id: randomUUID(), accountId: requester, name: query.name, publication: query.publication },
      ...{ createdAt, expiresAt: new Date(createdAt.getTime() + uploadArrivalMs) },
    };
    if (!(await database.transaction((on) => insertUpload(on, upload))))
      fail(
        'conflict',
        `The account already has ${uploadsPerAccountMax} uploads, the limit. Publish or delete one of \`GET /v1/operator/uploads\`.`,
      );
    try {
      const { fileBytes: bytes, fileSha256: sha256 } = await call.stage('sql', () =>
        storePieces(bytesOf(request, deps.uploadMb), (position, piece) =>
          insertPiece(database, { uploadId: upload.id }, position, piece),
        ),
      );
      if (bytes === 0) fail('invalid_body', 'The body is empty: it must be the file.');
      const today = dateIn(deps.seriesTimeZone, createdAt);
      const given = { id: upload.id, name: upload.name, publication: upload.publication, sha256, today };
      const tables = await call.stage('compute', () =>
        deps.children.run('read-upload', given, { withinMs: readWithinMs }),
      );
      const expiresAt = new Date(createdAt.getTime() + uploadLifetimeMs);
      if (!(await completeUpload(database, upload.id, { bytes, sha256, tables, expiresAt })))
        fail('conflict', 'The upload was deleted while it was read.');
      return one(uploadOf({ ...upload, bytes, sha256, tables, expiresAt, published: [] }), { status: 201 });
    } catch (error) {
      await deleteUpload(database, upload.id);
      throw refusalOf(error);
    }
  },
});

export const listAllUploads = endpoint({
  summary: 'The uploads of all operators that are neither published nor expired.',
  requester: 'operator',
  query: listParams({
    fields: uploadRowSchema.keyof().options,
    sorts: ['created_at'],
    sort: '-created_at',
  }),
  rows: uploadRowSchema,
  handler: async ({ database, releaseClock, cursors }, { query, call }) => {
    const now = await releaseClock.now(database);
    const rows = (await call.stage('sql', () => listUploads(database, now))).map(rowOf);
    return page(cursors, {
      query,
      of: ['uploads'],
      fileName: 'uploads',
      read: inMemory(rows, query.sort, (row) => [row.created_at, row.id]),
    });
  },
});

export const readUpload = endpoint({
  summary: 'An upload, with its detected tables.',
  requester: 'operator',
  params,
  answers: { 200: uploadSchema },
  handler: async (deps, { params: given, call }) =>
    one(uploadOf(await call.stage('sql', () => requireUpload(deps, given)))),
});

export const deleteOneUpload = endpoint({
  summary: 'Deletes an upload. Published data stay.',
  requester: 'operator',
  params,
  answers: { 204: null },
  handler: async (deps, { params: given, call }) => {
    const { id } = await call.stage('sql', () => requireUpload(deps, given));
    await call.stage('sql', () => deleteUpload(deps.database, id));
    return { status: 204 };
  },
});

/** @throws Failure `not_found` if it does not exist, or has expired. */
export async function requireUpload(
  { database, releaseClock }: OperatorDeps,
  given: Readonly<Record<string, string>>,
): Promise<Upload> {
  const id = memberOf(given, 'id');
  const isId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
  const upload = isId ? await findUpload(database, id, await releaseClock.now(database)) : undefined;
  return (
    upload ??
    fail('not_found', `There is no upload ${id.slice(0, 40)}: it was published or deleted, or has expired.`)
  );
}

/** @throws Failure `payload_too_large`; `invalid_request` if the client disconnects. */
async function* bytesOf(request: Request, uploadMb: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  try {
    // Not destroyed on return: a client that sends too much must still be able to read the error.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > uploadMb * 1024 * 1024)
        fail('payload_too_large', `The body must be at most ${uploadMb} MB.`);
      yield chunk;
    }
  } catch (error) {
    if (request.errored === null) throw error;
    throw new Failure('invalid_request', 'The file did not arrive completely.');
  }
}

/** Runs work that reads a file. @throws Failure with the fault of the file, if it cannot be used. */
export async function refusing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw refusalOf(error);
  }
}

/** The error for the client if a file cannot be used; any other error is passed on unchanged. */
function refusalOf(error: unknown): unknown {
  if (error instanceof IngestFailure) {
    if (error.due === undefined) return new Failure('invalid_body', error.message);
    const param = error.due.by === 'instant' ? 'release_at' : 'release_with';
    return new Failure('invalid_body', faultText(param, error.due.reason), { param });
  }
  if (error instanceof ProcessEnded)
    return new Failure(
      'invalid_body',
      `The file cannot be read: ${error.message}. Split it, or save the sheets of a workbook as CSV.`,
    );
  return error;
}
