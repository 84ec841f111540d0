// Answers a request of a service: validators and 304, the response cache, reading, Link, the file name, compression.
// Hides the order of these steps. The endpoint says what its answer depends on; data is read only if that is not cached.
import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import { mediaTypes, type Format } from './endpoint.ts';
import { encodingFor, sendAnswer, sendStream, sendText } from './reply.ts';
import type { ResponseCache } from './response-cache.ts';

const cacheControls = {
  /** A client may keep an answer, and asks whether it still holds: a load is seen by the next call. */
  private: 'private, no-cache',
  /** What is for everybody: shared caches may keep it for a minute. */
  public: 'public, max-age=60',
  /** What nobody may keep. */
  none: 'no-store',
};
/** Who may keep the answers of an endpoint. */
export type Caching = keyof typeof cacheControls;

const pinnedControl = 'private, max-age=31536000, immutable';

/** What an endpoint has decided to answer with, before anything of it is read. */
export interface Reply {
  /** 200 unless given. */
  status?: number;
  /** Everything that decides the bytes but the encoding; hashed into the ETag. Left out: the text itself does, so it is read first. */
  identity?: readonly unknown[];
  lastModified?: Date | null;
  /** Whether it stays the same for ever, as the points of a vintage and a version do. */
  isPinned?: boolean;
  format: Format;
  /** Of the file that CSV and iCalendar are saved as, without its ending. */
  fileName?: string;
  headers?: Readonly<Record<string, string>>;
  read: () => Promise<Content> | Content;
}

/** What is sent: a text, and the cursor of the page behind it; or a text in parts, which is the last page. */
export type Content = { text: string; nextCursor?: string | null } | { parts: AsyncGenerator<string> };

/** The headers that a cache needs. */
export type CachingHeaders = Record<string, string> & { etag: string };

/** What an endpoint says of all its answers. */
interface Keeping {
  caching: Caching;
  /** Where the answers are kept by their ETags, if they are. */
  responseCache?: ResponseCache | undefined;
}

/** Answers. @returns the caching headers of the answer; null where nobody may keep it. */
export async function answer(
  request: Request,
  response: Response,
  reply: Reply,
  { caching, responseCache }: Keeping,
): Promise<CachingHeaders | null> {
  if (caching === 'none') {
    await send(request, response, reply, await reply.read(), { ...uncached, ...reply.headers });
    return null;
  }
  if (reply.identity === undefined) {
    const content = await reply.read();
    if (!('text' in content))
      throw new TypeError('A stream has no text to make an ETag of: give its identity.');
    const headers = cachingHeaders(request, caching, {
      ...reply,
      identity: [content.text, content.nextCursor],
    });
    if (!sendNotModified(request, response, headers)) await send(request, response, reply, content, headers);
    return headers;
  }
  const headers = cachingHeaders(request, caching, reply);
  if (sendNotModified(request, response, headers)) return headers;
  const kept = responseCache?.get(headers.etag);
  if (kept !== undefined) {
    sendAnswer(response, kept);
    return headers;
  }
  const sent = await send(request, response, reply, await reply.read(), headers);
  if (sent !== null) responseCache?.keep(headers.etag, sent);
  return headers;
}

/** Answers 304 where the client has the same bytes already. @returns whether that was the answer. */
export function sendNotModified(request: Request, response: Response, headers: CachingHeaders): boolean {
  if (!matches(request.headers['if-none-match'], headers.etag)) return false;
  response.writeHead(304, Object.entries(headers).flat()).end();
  return true;
}

const vary = 'Accept, Accept-Encoding';
const uncached = { 'cache-control': cacheControls.none, vary };

/** A strong ETag a representation, Last-Modified, Vary, Cache-Control, and what the reply itself says of where it stands. */
function cachingHeaders(
  request: Request,
  caching: Caching,
  { identity, lastModified = null, isPinned = false, headers }: Reply,
): CachingHeaders {
  const digest = hash('sha256', JSON.stringify(identity), 'base64url').slice(0, 22);
  const encoding = encodingFor(request.headers['accept-encoding']);
  return {
    etag: `"${digest}${encoding === 'identity' ? '' : `-${encoding}`}"`,
    'cache-control': isPinned ? pinnedControl : cacheControls[caching],
    vary,
    ...(lastModified === null ? {} : { 'last-modified': lastModified.toUTCString() }),
    ...headers,
  };
}

/** @returns what was sent; null for a stream. */
async function send(
  request: Request,
  response: Response,
  { status = 200, format, fileName }: Reply,
  content: Content,
  headers: Readonly<Record<string, string>>,
) {
  const answered = {
    status,
    type: `${mediaTypes[format]}; charset=utf-8`,
    headers: format === 'json' ? headers : { ...headers, ...dispositionOf(fileName, format) },
  };
  if ('parts' in content) {
    await sendStream(request, response, { ...answered, parts: content.parts });
    return null;
  }
  const link = nextPageLink(request, content.nextCursor ?? null);
  return sendText(request, response, {
    ...answered,
    headers: { ...answered.headers, ...link },
    text: content.text,
  });
}

function dispositionOf(fileName: string | undefined, format: Format): Record<string, string> {
  if (fileName === undefined) throw new TypeError(`an answer in ${format} without a fileName`);
  const name = fileName.replaceAll(/[^A-Za-z0-9._-]/g, '_'); // of letters that need no quoting in a header
  return { 'content-disposition': `attachment; filename="${name}.${format}"` };
}

/** `Link` to the next page where there is one: the client's own parameters with the cursor, relative to the host. */
function nextPageLink(request: Request, cursor: string | null): Record<string, string> {
  if (cursor === null) return {};
  const url = new URL(request.url, 'http://host');
  url.searchParams.set('cursor', cursor);
  return { link: `<${url.pathname}${url.search}>; rel="next"` };
}

/** If-None-Match compares weakly: a proxy may have marked our strong tag with W/. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
