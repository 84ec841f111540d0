// GET and HEAD /v1/bulk/{name}: a bulk file, whole or a range of its bytes, as Parquet readers request it.
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';
import { z } from 'zod';
import type { StoredFile } from '../../domain/bulk/manifest.ts';
import { memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { readQuery } from '../../kernel/http/endpoint.ts';
import { etagMatches, writeHead } from '../../kernel/http/reply.ts';
import type { Endpoint } from '../endpoint.ts';
import { failStoreUnavailable, orUnavailable, requireFile } from './files.ts';
import { askedRange, isSameFile } from './ranges.ts';

const mediaType = 'application/vnd.apache.parquet';
const headers = ['ETag', 'Last-Modified', 'Accept-Ranges', 'Content-Disposition'];
const content = { [mediaType]: z.string().meta({ format: 'binary' }) };
const query = z.object({});

export const getBulkFile: Endpoint = {
  method: 'GET',
  bodyBytesMax: undefined,
  summary: 'A bulk file: whole, or one range of its bytes.',
  description:
    'A file of a name never changes. One call is charged for a file, however many of its ranges a key reads on a day (UTC). HEAD counts as a range.',
  params: { name: z.string().describe('A name of `/v1/bulk`.') },
  requestHeaders: {
    Range: z
      .string()
      .optional()
      .describe('One range, such as `bytes=0-1023` or `bytes=-8`; several are answered with the whole file.'),
    'If-Range': z
      .string()
      .optional()
      .describe('The ETag of the file that the range is of; for any other, the whole file is sent.'),
  },
  query,
  answers: [
    { status: 200, description: 'The whole file.', content, headers },
    { status: 206, description: 'The range.', content, headers: [...headers, 'Content-Range'] },
  ],
  errors: [
    ...(['invalid_parameter', 'plan_required', 'not_found', 'range_not_satisfiable', 'unavailable'] as const),
    'not_available_as_of',
  ],
  handler: (dependencies) => async (request, response, call) => {
    readQuery(query, request, 'json');
    const name = memberOf(request.params as Record<string, string>, 'name');
    const { file, store } = await call.stage('lookup', () => requireFile(dependencies, call, name));
    const about = aboutOf(file);
    const head = Object.entries(about).flat();
    if (etagMatches(request.headers['if-none-match'], about.etag)) {
      writeHead(response, 304, head).end();
      return;
    }
    const asked =
      request.method === 'GET' &&
      isSameFile(request.get('if-range'), { etag: about.etag, lastModified: about['last-modified'] })
        ? askedRange(request.headers.range, file.bytes)
        : 'whole';
    if (asked === 'unsatisfiable')
      fail('range_not_satisfiable', `The file has ${file.bytes} bytes, and none of this range.`, {
        headers: { 'content-range': `bytes */${file.bytes}` },
      });
    const range = asked === 'whole' ? { from: 0, to: file.bytes - 1 } : asked;
    const { from, to } = range;
    const body =
      request.method === 'HEAD'
        ? await orUnavailable(() => store.head(file))
        : await orUnavailable(() => store.read(file, range));
    if (body === undefined || body === false)
      fail('not_found', 'The bulk file has just been removed. See GET /v1/bulk.');
    const sized = ['content-type', mediaType, 'content-length', String(to - from + 1)];
    if (asked === 'whole') writeHead(response, 200, [...head, ...sized]);
    else writeHead(response, 206, [...head, ...sized, 'content-range', `bytes ${from}-${to}/${file.bytes}`]);
    if (body === true) response.end();
    else await send(body, response);
  },
};

/** The headers of every answer with the file. */
function aboutOf({ name, sha256, created_at }: StoredFile) {
  return {
    etag: `"${sha256}"`,
    'last-modified': new Date(created_at).toUTCString(),
    'accept-ranges': 'bytes',
    // Data may be retracted, so caches revalidate the file before each use.
    'cache-control': 'private, no-cache',
    'content-disposition': `attachment; filename="${name}"`,
  };
}

/**
 * Sends the bytes as fast as the client reads. @throws Failure `unavailable`, for the log, if the store failed: the connection is then
 * closed.
 */
async function send(body: Readable, response: Response): Promise<void> {
  let fault: unknown;
  body.once('error', (error) => (fault = error));
  try {
    await pipeline(body, response);
  } catch {
    if (fault !== undefined && !clientHasLeft(fault)) failStoreUnavailable(fault);
  }
}

/** The pipeline then ends the body with this error. */
function clientHasLeft(fault: unknown): boolean {
  return fault instanceof Error && 'code' in fault && fault.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
