// Sends a message by POST, once: to an address that the guard has admitted, with a limit on time and on what is read.
// Hides the connection. Redirects are not followed, and nothing of an answer is decompressed or trusted.
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIPv6 } from 'node:net';
import { UrlRefused, type AddressGuard } from './address-guard.ts';

/** Why an attempt had no answer. The words tell nothing of the network: a name without an address and a private one are the same. */
export const errorClasses = [
  'no_public_address',
  'connection_failed',
  'tls_failed',
  'connection_closed',
  'invalid_response',
  'timeout',
] as const;
export type ErrorClass = (typeof errorClasses)[number];

export type Sent =
  | {
      status: number;
      error: null;
      /** The beginning of the body. */
      response: string;
      /** The headers that say when, and whether, to send again. */
      retryAfter: string | undefined;
    }
  | { status: null; error: ErrorClass };

/** Of the whole attempt: looking up the name, connecting, sending and reading. */
export const attemptTimeoutMs = 15_000;
const bodyBytesMax = 64 * 1024;
const keptCharacters = 1024;
/** A character has at most four bytes. */
const keptBytes = keptCharacters * 4;
const headBytesMax = 16 * 1024;

export interface Sending {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** @returns what came of it; it never throws. @param timeoutMs tests have less. */
export async function send(
  guard: AddressGuard,
  { url: text, headers, body }: Sending,
  timeoutMs = attemptTimeoutMs,
): Promise<Sent> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const url = guard.parse(text); // the rules may have changed since it was stored
    const addresses = await orAbort(guard.addressesOf(url), deadline);
    deadline.throwIfAborted();
    return await post(url, addresses, { headers, body, deadline });
  } catch (error) {
    return { status: null, error: deadline.aborted ? 'timeout' : classOf(error) };
  }
}

function post(
  url: URL,
  addresses: readonly string[],
  { headers, body, deadline }: { headers: Sending['headers']; body: string; deadline: AbortSignal },
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const start = url.protocol === 'https:' ? requestHttps : requestHttp;
    const content = Buffer.from(body);
    const request: ClientRequest = start(url, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': content.length,
        'user-agent': 'Almanac-Webhooks/1',
        'accept-encoding': 'identity',
      },
      agent: false, // a connection of its own, by no proxy
      maxHeaderSize: headBytesMax,
      // Name, Host and SNI stay those of the URL. Only the addresses that were checked can be connected to.
      lookup: (_name, options, found) => {
        const all = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        const [first] = all;
        if (options.all === true) found(null, all);
        else found(null, first?.address ?? '', first?.family ?? 4);
      },
    });
    const abort = () => request.destroy(new Error('timeout'));
    deadline.addEventListener('abort', abort, { once: true });
    request.once('close', () => {
      deadline.removeEventListener('abort', abort);
      reject(Object.assign(new Error('It was closed without an answer.'), { code: 'ECONNRESET' }));
    });
    request.on('error', reject);
    request.once('response', (response) => {
      const { statusCode = 0 } = response;
      if (statusCode >= 200 && statusCode <= 999) return resolve(read(request, response, statusCode));
      request.destroy();
      resolve({ status: null, error: 'invalid_response' });
    });
    request.end(content);
  });
}

/** The status decides; of the body as much is read as a well-behaved receiver sends, and a little is kept. */
function read(request: ClientRequest, response: IncomingMessage, status: number): Promise<Sent> {
  return new Promise((resolve) => {
    const kept: Buffer[] = [];
    let bytes = 0;
    let keptSoFar = 0;
    const end = () => {
      resolve({
        status,
        error: null,
        response: textOf(Buffer.concat(kept)),
        retryAfter: response.headers['retry-after'],
      });
      request.destroy();
    };
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (keptSoFar < keptBytes) {
        const part = Buffer.from(chunk.subarray(0, keptBytes - keptSoFar)); // a copy: the chunk itself is larger
        kept.push(part);
        keptSoFar += part.length;
      }
      if (bytes >= bodyBytesMax) end();
    });
    response.on('end', end);
    response.on('error', end); // the answer has begun, so its status stands
    response.on('close', end);
  });
}

/** Text that PostgreSQL and a page can hold: invalid bytes and control characters are replaced. */
function textOf(bytes: Buffer): string {
  const text = new TextDecoder().decode(bytes);
  // oxlint-disable-next-line no-control-regex
  const printable = text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '\u{fffd}');
  return Array.from(printable).slice(0, keptCharacters).join('');
}

async function orAbort<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new Error('timeout'));
  deadline.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    deadline.removeEventListener('abort', abort);
  }
}

function classOf(error: unknown): ErrorClass {
  if (error instanceof UrlRefused) return 'no_public_address';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT)$/.test(code))
    return 'connection_failed';
  if (/^(?:ECONNRESET|EPIPE)$/.test(code)) return 'connection_closed';
  if (code.startsWith('HPE_')) return 'invalid_response';
  if (/^ERR_(?:SSL|TLS)|CERT|SIGNATURE|^EPROTO$|ALTNAME/.test(code)) return 'tls_failed';
  return 'connection_failed';
}
