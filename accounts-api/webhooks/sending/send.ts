// Sends a message by POST, once, to an address that the guard has admitted, with a limit on time and on the size of the answer. Redirects are not
// followed, and answers are neither decompressed nor trusted.
import { errors } from 'undici';
import { UrlRefused, type AddressGuard } from '../../../kernel/outbound/address-guard.ts';
import type { Connection, Connections } from './connections.ts';

/** Why an attempt had no answer. The words reveal nothing about the network: a name without an address and a private address have the same class. */
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
      /** The `Retry-After` header. */
      retryAfter: string | undefined;
    }
  | { status: null; error: ErrorClass };

/** The limit of the whole attempt: name lookup, connecting, sending and reading. */
export const attemptTimeoutMs = 15_000;
const bodyBytesMax = 64 * 1024;
const storedCharactersMax = 1024;
/** A character has at most four bytes. */
const storedBytesMax = storedCharactersMax * 4;

export interface Outlet {
  guard: AddressGuard;
  connections: Connections;
}

export interface Sending {
  /** The endpoint's id: connections are not shared between endpoints. */
  endpoint: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/**
 * @returns the result; it never throws. If the server has meanwhile closed a kept-alive connection, the request is repeated once on a new one, so a
 * message may arrive twice with the same id. @param timeoutMs shorter in tests.
 */
export async function send(
  { guard, connections }: Outlet,
  { endpoint, url: text, headers, body }: Sending,
  timeoutMs = attemptTimeoutMs,
): Promise<Sent> {
  const deadline = createDeadline(timeoutMs);
  try {
    const url = guard.parse(text); // the rules may have changed since it was stored
    const addresses = await deadline.orOver(guard.addressesOf(url));
    const posting = { path: url.pathname + url.search, headers: { ...headers, ...ownHeaders }, body };
    const connection = connections.acquire(endpoint, url, addresses);
    let ended = await post(connections, connection, posting, deadline);
    if (connection.isReused && ended.isUnanswered && !deadline.isOver) {
      ended = await post(connections, connections.acquire(endpoint, url, addresses, true), posting, deadline);
    }
    return ended.sent;
  } catch (error) {
    return { status: null, error: deadline.isOver ? 'timeout' : classOf(error) };
  } finally {
    deadline.end();
  }
}

const ownHeaders = {
  'content-type': 'application/json',
  'user-agent': 'Almanac-Webhooks/1',
  'accept-encoding': 'identity',
};

interface Ended {
  sent: Sent;
  /** Whether the connection was closed before the first byte of an answer. */
  isUnanswered: boolean;
}

/** The status decides the result. Of the body at most 64 KiB are read, then the connection is closed; its beginning is stored. */
function post(
  connections: Connections,
  connection: Connection,
  request: Parameters<Connection['post']>[0],
  deadline: Deadline,
): Promise<Ended> {
  const ended = Promise.withResolvers<Ended>();
  const answer = new Answer();
  let isAnswered = false;
  const end = (sent: Sent, isWhole = false) => {
    deadline.onOver = null;
    if (isWhole) connections.release(connection);
    else connection.destroy();
    ended.resolve({ sent, isUnanswered: !isAnswered && sent.error === 'connection_closed' });
  };
  deadline.onOver = () => end(answer.sent ?? { status: null, error: 'timeout' });
  connection.post(request, {
    onRequestStart: () => undefined,
    onResponseStarted: () => void (isAnswered = true),
    onResponseStart(_controller, status, headers) {
      if (status >= 200) answer.begin(status, headers['retry-after']);
    },
    onResponseData(_controller, chunk) {
      answer.add(chunk);
      if (answer.isLong) end(answer.sent ?? { status: null, error: 'invalid_response' });
    },
    onResponseEnd: () => end(answer.sent ?? { status: null, error: 'invalid_response' }, true),
    // An answer that has begun counts, despite a later error.
    onResponseError: (_controller, error) =>
      end(answer.sent ?? { status: null, error: deadline.isOver ? 'timeout' : classOf(error, isAnswered) }),
    onRequestUpgrade: () => end({ status: null, error: 'connection_closed' }),
  });
  return ended.promise;
}

/** The part of an answer that has been read. */
class Answer {
  #status: number | undefined;
  #retryAfter: string | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;

  begin(status: number, retryAfter: string | string[] | undefined): void {
    this.#status = status;
    this.#retryAfter = typeof retryAfter === 'object' ? retryAfter[0] : retryAfter;
  }

  add(chunk: Buffer): void {
    // Copied, as the chunk is larger and its buffer is reused.
    if (this.#bytes < storedBytesMax)
      this.#chunks.push(Buffer.from(chunk.subarray(0, storedBytesMax - this.#bytes)));
    this.#bytes += chunk.length;
  }

  get isLong(): boolean {
    return this.#bytes >= bodyBytesMax;
  }

  /** Undefined until the answer begins. */
  get sent(): Sent | undefined {
    if (this.#status === undefined) return undefined;
    const response = textOf(Buffer.concat(this.#chunks));
    return { status: this.#status, error: null, response, retryAfter: this.#retryAfter };
  }
}

/** Text that PostgreSQL can store and a page can show: invalid bytes and control characters are replaced. */
function textOf(bytes: Buffer): string {
  if (bytes.length === 0) return '';
  const text = new TextDecoder().decode(bytes);
  // oxlint-disable-next-line no-control-regex
  const printable = text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '\u{fffd}');
  if (printable.length <= storedCharactersMax) return printable;
  return Array.from(printable.slice(0, 2 * storedCharactersMax))
    .slice(0, storedCharactersMax)
    .join('');
}

interface Deadline {
  readonly isOver: boolean;
  /** Called when the time is over. */
  onOver: (() => void) | null;
  /** @throws Error when the time is over, even if the work goes on. */
  orOver<T>(work: Promise<T>): Promise<T>;
  end(): void;
}

/** A timer that ends with its attempt: those of `AbortSignal.timeout` would remain for the whole 15 s, thousands of them per second. */
function createDeadline(timeoutMs: number): Deadline {
  let isOver = false;
  const deadline: Deadline = {
    get isOver() {
      return isOver;
    },
    onOver: null,
    async orOver(work) {
      const over = Promise.withResolvers<never>();
      deadline.onOver = () => over.reject(new Error('timeout'));
      try {
        return await Promise.race([work, over.promise]);
      } finally {
        deadline.onOver = null;
      }
    },
    end: () => clearTimeout(timer),
  };
  const timer = setTimeout(() => {
    isOver = true;
    deadline.onOver?.();
  }, timeoutMs);
  return deadline;
}

/** @param isAnswered whether the first bytes of an answer had arrived: errors that are not recognised then count as an invalid response. */
function classOf(error: unknown, isAnswered = false): ErrorClass {
  if (error instanceof UrlRefused) return 'no_public_address';
  if (error instanceof errors.HTTPParserError) return 'invalid_response';
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT)$/.test(code))
    return 'connection_failed';
  if (/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code)) return 'connection_closed';
  if (/^(?:UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_.*)$/.test(code)) return 'invalid_response';
  if (/^ERR_(?:SSL|TLS)|CERT|SIGNATURE|^EPROTO$|ALTNAME/.test(code)) return 'tls_failed';
  return isAnswered ? 'invalid_response' : 'connection_failed';
}

/** For the audit log: the rest of a URL may contain a secret of the receiver. */
export const originOf = (url: string) => new URL(url).origin;
