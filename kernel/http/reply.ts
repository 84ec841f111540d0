// Sends the bytes of an answer: compression, HEAD, and streams that stop when the client leaves. answer.ts decides the headers, except those of the
// call itself.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Request, Response } from 'express';
import { currentCall } from '../tracing/call-context.ts';

export type Encoding = 'br' | 'gzip' | 'identity';

/** Below this size, compression saves no packet. */
const compressBytesMin = 1_024;
// Measured 2026-11-20 on 23 kB of points: brotli 4 takes 0.14 ms; gzip 6 takes 0.18 ms and is larger; brotli 11 takes 28 ms. The small window lets a
// stream begin after 0.1 s instead of 1 s, and saves 50 MB.
const brotliOptions = {
  params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4, [zlib.constants.BROTLI_PARAM_LGWIN]: 18 },
};

const brotli = promisify(zlib.brotliCompress);
const gzip = promisify(zlib.gzip);

/** An answer to send. Its headers are sent only with its body, never with a failure that precedes it. */
interface Answer {
  /** Default 200. */
  status?: number;
  type: string;
  headers: Readonly<Record<string, string>>;
}

/**
 * Writes the head of an answer, with the headers of its call. @param headers alternating names and values: Node sends such a list unchanged, but
 * validates each header that is set individually.
 */
export function writeHead(response: Response, status: number, headers: readonly string[]): Response {
  return response.writeHead(status, [...headers, ...(currentCall()?.ownHeaders?.() ?? [])]);
}

/** Sends JSON. */
export function sendJson(response: Response, status: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  sendBytes(response, { status, type: 'application/json; charset=utf-8', headers: {}, bytes });
}

/** Sends a whole text, compressed if the client accepts it and the text is long enough. */
export async function sendText(
  request: Request,
  response: Response,
  { status = 200, type, headers, text }: Answer & { text: string },
): Promise<void> {
  const whole = Buffer.from(text);
  const encoding =
    whole.length < compressBytesMin ? 'identity' : encodingFor(request.headers['accept-encoding']);
  const body =
    encoding === 'br' ? await brotli(whole, brotliOptions) : encoding === 'gzip' ? await gzip(whole) : whole;
  const encoded = encoding === 'identity' ? headers : { ...headers, 'content-encoding': encoding };
  sendBytes(response, { status, type, headers: encoded, bytes: body });
}

/** Sends bytes uncompressed: images are already compressed. */
export function sendBytes(
  response: Response,
  { status = 200, type, headers, bytes }: Answer & { bytes: Buffer },
): void {
  const whole = { ...headers, 'content-type': type, 'content-length': String(bytes.length) };
  writeHead(response, status, listed(whole)).end(bytes); // for HEAD, Node sends only the headers
}

/**
 * Sends text as it is produced, and stops the producer if the client leaves. The first part is produced before the headers are sent, so its failure
 * can still be answered as an error.
 */
export async function sendStream(
  request: Request,
  response: Response,
  { status = 200, type, headers, parts }: Answer & { parts: AsyncGenerator<string> },
): Promise<void> {
  const first = await parts.next();
  if (response.destroyed) {
    await parts.return(undefined); // the client left before the stream began
    return;
  }
  const encoding = encodingFor(request.headers['accept-encoding']);
  const encoded = encoding === 'identity' ? [] : ['content-encoding', encoding];
  writeHead(response, status, [...listed({ ...headers, 'content-type': type }), ...encoded]);
  if (request.method === 'HEAD') {
    await parts.return(undefined);
    response.end();
    return;
  }
  const source = Readable.from(startingWith(first, parts));
  try {
    if (encoding === 'br') await pipeline(source, zlib.createBrotliCompress(brotliOptions), response);
    else if (encoding === 'gzip') await pipeline(source, zlib.createGzip(), response);
    else await pipeline(source, response);
  } catch (error) {
    const clientLeft =
      error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
    if (!clientLeft) throw error;
  }
}

/** Alternating names and values. */
function listed(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat();
}

async function* startingWith(
  first: IteratorResult<string, unknown>,
  rest: AsyncGenerator<string>,
): AsyncGenerator<string> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

/** The encoding to use: the one with the highest weight, brotli before gzip. @param hasBrotli whether there is such a body. */
export function encodingFor(accepted: string | undefined, hasBrotli = true): Encoding {
  if (accepted === undefined) return 'identity';
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    weights.set(name, quality === undefined ? 1 : Number(quality.slice(2)));
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  if (hasBrotli && weightOf('br') > 0 && weightOf('br') >= weightOf('gzip')) return 'br';
  return weightOf('gzip') > 0 ? 'gzip' : 'identity';
}

/** Whether If-None-Match contains the ETag. It compares weakly (RFC 9110, section 13.1.2): a proxy may have marked our strong tag with W/. */
export function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
