// Answers a request of a service: validators and 304, reading, Link, file name, compression. The endpoint states what its answer depends on; data is
// read only if the client does not already have that answer.
import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import { mediaTypes, type Format } from './endpoint.ts';
import { encodingFor, etagMatches, sendBytes, sendStream, sendText, writeHead } from './reply.ts';

const cacheControls = {
  /** A client may store the answer but must revalidate it, so the next call sees a load. */
  private: 'private, no-cache',
  /** Public data: shared caches may store it for a minute. */
  public: 'public, max-age=60',
  /** Must not be stored by any cache. */
  none: 'no-store',
};
/** Which caches may store the answers of an endpoint. */
export type Caching = keyof typeof cacheControls;

const pinnedControl = 'private, max-age=31536000, immutable';

/** What an endpoint has decided to answer, before it reads any data. */
export interface Reply {
  /** Default 200. */
  status?: number;
  /**
   * Everything that determines the body except its encoding, the build and the settings; hashed into the ETag. If omitted, the text is read first and
   * hashed.
   */
  identity?: readonly unknown[];
  lastModified?: Date | null;
  /** Whether the answer never changes, such as the points of a vintage and a version. */
  isPinned?: boolean;
  format: Format;
  /** The name of the file, without its extension; required for all formats but JSON and XML. */
  fileName?: string;
  headers?: Readonly<Record<string, string>>;
  read: () => Promise<Content> | Content;
}

/** The body: one text, with the cursor of the next page; a text in parts, which is the last page; or the bytes of an image or a workbook. */
export type Content =
  { text: string; nextCursor?: string | null } | { parts: AsyncGenerator<string> } | { bytes: Buffer };

/** The caching headers. */
type CachingHeaders = Record<string, string> & { etag: string };

/** The settings of all answers of an endpoint. */
interface CachingSettings {
  caching: Caching;
  /** What every answer depends on besides its identity: the build and settings. */
  edition: string;
}

/** Answers the request. */
export async function answer(
  request: Request,
  response: Response,
  reply: Reply,
  settings: CachingSettings,
): Promise<void> {
  if (settings.caching === 'none') {
    await send(request, response, reply, await reply.read(), { ...uncached, ...reply.headers });
    return;
  }
  if (reply.identity === undefined) {
    const content = await reply.read();
    if (!('text' in content)) throw new TypeError('The ETag of this content requires an identity.');
    const headers = cachingHeaders(request, settings, {
      ...reply,
      identity: [content.text, content.nextCursor],
    });
    if (!sendNotModified(request, response, headers)) await send(request, response, reply, content, headers);
    return;
  }
  const headers = cachingHeaders(request, settings, reply);
  if (sendNotModified(request, response, headers)) return;
  await send(request, response, reply, await reply.read(), headers);
}

/** Answers 304 if the client already has the same bytes. @returns whether it did. */
function sendNotModified(request: Request, response: Response, headers: CachingHeaders): boolean {
  if (!etagMatches(request.headers['if-none-match'], headers.etag)) return false;
  writeHead(response, 304, Object.entries(headers).flat()).end();
  return true;
}

// The answer depends on the key even where none is required, as a pinned key gets answers of its day.
const vary = 'Accept, Accept-Encoding, Authorization, X-API-Key';
const uncached = { 'cache-control': cacheControls.none, vary };

/** A strong ETag per representation, Last-Modified, Vary, Cache-Control, and the location headers of the reply. */
function cachingHeaders(
  request: Request,
  { caching, edition }: CachingSettings,
  { identity, lastModified = null, isPinned = false, headers }: Reply,
): CachingHeaders {
  const digest = hash('sha256', JSON.stringify([edition, identity]), 'base64url').slice(0, 22);
  const encoding = encodingFor(request.headers['accept-encoding']);
  return {
    etag: `"${digest}${encoding === 'identity' ? '' : `-${encoding}`}"`,
    'cache-control': isPinned ? pinnedControl : cacheControls[caching],
    vary,
    ...(lastModified === null ? {} : { 'last-modified': lastModified.toUTCString() }),
    ...headers,
  };
}

async function send(
  request: Request,
  response: Response,
  { status = 200, format, fileName }: Reply,
  content: Content,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const answered = {
    status,
    type: 'bytes' in content ? mediaTypes[format] : `${mediaTypes[format]}; charset=utf-8`,
    headers:
      format === 'json' || format === 'xml' || format === 'atom'
        ? headers
        : { ...headers, ...dispositionOf(fileName, format) },
  };
  if ('parts' in content) return sendStream(request, response, { ...answered, parts: content.parts });
  if ('bytes' in content) return sendBytes(response, { ...answered, bytes: content.bytes });
  const link = nextPageLink(request, content.nextCursor ?? null);
  return sendText(request, response, {
    ...answered,
    headers: { ...answered.headers, ...link },
    text: content.text,
  });
}

/** The file extensions that differ from the name of the format. */
const extensions: Partial<Record<Format, string>> = { bibtex: 'bib', csl: 'json' };

function dispositionOf(fileName: string | undefined, format: Format): Record<string, string> {
  if (fileName === undefined) throw new TypeError(`an answer in ${format} without a fileName`);
  const name = fileName.replaceAll(/[^A-Za-z0-9._-]/g, '_'); // only characters that need no quoting in a header
  const use = format === 'svg' || format === 'png' ? 'inline' : 'attachment'; // a browser shows an image and saves a file
  return { 'content-disposition': `${use}; filename="${name}.${extensions[format] ?? format}"` };
}

/** `Link` to the next page, if any: the client's own parameters with the cursor, relative to the host. */
function nextPageLink(request: Request, cursor: string | null): Record<string, string> {
  if (cursor === null) return {};
  const url = new URL(request.url, 'http://host');
  url.searchParams.set('cursor', cursor);
  return { link: `<${url.pathname}${url.search}>; rel="next"` };
}
