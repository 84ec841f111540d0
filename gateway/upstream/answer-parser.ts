// Parses a service's answers from the bytes of its connection: only the HTTP/1.1 that our services use. Refuses what could be read in two ways: two
// lengths, a length with chunks, an answer without an end, folded lines, bare line feeds, chunk extensions, invalid trailers (RFC 9112, sections 4 to
// 7). It is stricter than Node's parser, and accepts nothing that Node's would read differently.

import { headBytesMax as requestHeadBytesMax } from '../../kernel/http/server.ts';

/** The bytes are not an answer that the gateway may forward. */
export class BadAnswer extends Error {}

/** The bytes are not an HTTP/1.1 answer at all. */
export class NotHttp extends BadAnswer {}

/** Receives one answer; the methods are called in this order. */
export interface AnswerHandler {
  /** @param head lower-case names and values, alternating. */
  onHead(status: number, head: readonly string[]): void;
  /** @param bytes valid only until the method returns. @param isLast can be true only if the answer declared its length. */
  onBody(bytes: Buffer, isLast: boolean): void;
  onEnd(): void;
}

type State = 'head' | 'sized body' | 'chunk size' | 'chunk' | 'after chunk' | 'trailers' | 'ended';

// `Link` repeats the URL of the request, in which one character may become three bytes.
const headBytesMax = 4 * requestHeadBytesMax;
const chunkLineBytesMax = 18; // 16 digits and the line end
const interimMax = 8; // 1xx answers before the final one
const lineEnd = '\r\n';
const [cr, lf] = [13, 10];
const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) /;
const notInHead = /[^\t\r\n\x20-\x7e\x80-\xff]|\r(?!\n)|(?<!\r)\n/;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const notInTrailers: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'proxy-connection',
  'transfer-encoding',
]);

export class AnswerParser {
  readonly #handler: AnswerHandler;
  readonly #isHead: boolean;
  #state: State = 'head';
  #interim = 0;
  /** Remaining bytes of the body or the chunk. */
  #bytesLeft = 0;
  #trailerBytes = 0;
  /** An incomplete line or head. */
  #incomplete: Buffer | undefined;
  /** Whether the service closes the connection after this answer. */
  closes = false;
  /** The value of the `Keep-Alive` header. */
  keepAlive: string | undefined;

  /** @param method of the request: the answer to HEAD has no body. */
  constructor(handler: AnswerHandler, method: string) {
    this.#handler = handler;
    this.#isHead = method === 'HEAD';
  }

  get hasEnded(): boolean {
    return this.#state === 'ended';
  }

  /** @returns false if there are bytes after the end. @throws BadAnswer, and anything the handler throws. */
  read(arrived: Buffer): boolean {
    const bytes = this.#incomplete === undefined ? arrived : Buffer.concat([this.#incomplete, arrived]);
    this.#incomplete = undefined;
    let at = 0;
    while (at < bytes.length && this.#state !== 'ended') {
      const next = this.#readSome(bytes, at);
      if (next === undefined) {
        this.#incomplete = Buffer.from(bytes.subarray(at));
        return true;
      }
      at = next;
    }
    return at === bytes.length;
  }

  /** @returns the position up to which it has parsed; undefined if it needs more bytes. */
  #readSome(bytes: Buffer, at: number): number | undefined {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at);
      case 'sized body':
      case 'chunk':
        return this.#readBody(bytes, at);
      case 'chunk size':
        return this.#readChunkSize(bytes, at);
      case 'after chunk':
        return this.#readAfterChunk(bytes, at);
      case 'trailers':
        return this.#readTrailer(bytes, at);
      case 'ended':
        break;
    }
    return at;
  }

  #readHead(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf('\r\n\r\n', at, 'latin1');
    // The last three bytes may be the beginning of the end marker.
    if ((end < 0 ? bytes.length - 3 : end) - at > headBytesMax) throw new BadAnswer('The head is too long.');
    if (end < 0) {
      // Refused early, as bytes that are not HTTP might never end.
      if (!'HTTP/1.1 '.startsWith(bytes.toString('latin1', at, Math.min(at + 9, bytes.length))))
        throw notHttp();
      return undefined;
    }
    this.#parseHead(bytes.toString('latin1', at, end));
    return end + 4;
  }

  #parseHead(text: string): void {
    const status = Number(statusLine.exec(text)?.[1]);
    if (!(status >= 100)) throw notHttp();
    if (notInHead.test(text)) throw new BadAnswer('The head contains illegal characters.');
    const head: string[] = [];
    let length: string | undefined;
    let encoding: string | undefined;
    let from = text.indexOf(lineEnd);
    while (from >= 0) {
      const begin = from + 2;
      from = text.indexOf(lineEnd, begin);
      const colon = text.indexOf(':', begin);
      const end = from < 0 ? text.length : from;
      if (colon < 0 || colon > end) throw new BadAnswer('A header line has no name.');
      const name = lowerCase(text.slice(begin, colon));
      const afterColon = text.slice(colon + 1, end);
      const value = withoutBlanks(afterColon);
      head.push(name, value);
      if (name === 'content-length') {
        if (length !== undefined) throw new BadAnswer('The answer has two lengths.');
        length = value;
      } else if (name === 'transfer-encoding') {
        if (encoding !== undefined) throw new BadAnswer('The answer has two transfer encodings.');
        encoding = value;
        // Node's parser would see a different encoding, and read the body until the connection ends.
        if (afterColon.trimStart().includes('\t'))
          throw new BadAnswer('The transfer encoding contains a tab.');
      } else if (name === 'connection' || name === 'proxy-connection') {
        this.closes ||= /(?:^|,)\s*close\s*(?:,|$)/i.test(value);
      } else if (name === 'keep-alive') this.keepAlive = value;
    }
    this.#begin(status, head, length, encoding);
  }

  #begin(
    status: number,
    head: readonly string[],
    length: string | undefined,
    encoding: string | undefined,
  ): void {
    if (length !== undefined && (encoding !== undefined || !/^\d{1,15}$/.test(length))) {
      throw new BadAnswer('The length of the answer is ambiguous.');
    }
    if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
      throw new BadAnswer(`Unsupported transfer encoding ${encoding}: the service must use chunked.`);
    }
    if (status < 200) {
      if (length !== undefined || encoding !== undefined || this.closes) {
        throw new BadAnswer('A 1xx response must not have a body or close the connection.');
      }
      this.#interim += 1;
      if (status === 101) throw new BadAnswer('The service answered with a protocol upgrade.');
      if (this.#interim > interimMax) throw new BadAnswer('Too many 1xx responses.');
      return; // such as early hints, which are not forwarded
    }
    if (status === 204 && (encoding !== undefined || Number(length ?? 0) > 0)) {
      throw new BadAnswer('A 204 response must not have a body.');
    }
    const hasNoBody = this.#isHead || status === 204 || status === 304;
    if (!hasNoBody && length === undefined && encoding === undefined) {
      throw new BadAnswer('The answer has neither a length nor chunks.'); // without an end, a truncated answer would look complete
    }
    this.#handler.onHead(status, head);
    if (hasNoBody || length === '0') return this.#end();
    this.#state = length === undefined ? 'chunk size' : 'sized body';
    this.#bytesLeft = Number(length ?? 0);
    if (this.#state === 'sized body' && this.#bytesLeft === 0) this.#end(); // such as a length of `00`
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#bytesLeft);
    this.#bytesLeft -= end - at;
    const isSized = this.#state === 'sized body';
    const isLast = this.#bytesLeft === 0;
    this.#handler.onBody(
      at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end),
      isSized && isLast,
    );
    if (isLast && isSized) this.#end();
    else if (isLast) this.#state = 'after chunk';
    return end;
  }

  #readChunkSize(bytes: Buffer, at: number): number | undefined {
    const line = lineAt(bytes, at, chunkLineBytesMax);
    if (line === undefined) return undefined;
    if (!/^[0-9a-f]{1,12}$/i.test(line)) throw new BadAnswer('Invalid chunk size.');
    this.#bytesLeft = Number.parseInt(line, 16);
    this.#state = this.#bytesLeft === 0 ? 'trailers' : 'chunk';
    return at + line.length + 2;
  }

  #readAfterChunk(bytes: Buffer, at: number): number | undefined {
    if (bytes[at] !== cr || (bytes.length > at + 1 && bytes[at + 1] !== lf)) {
      throw new BadAnswer('A chunk is longer than its stated size.');
    }
    if (bytes.length < at + 2) return undefined;
    this.#state = 'chunk size';
    return at + 2;
  }

  /** Validates trailers like header lines and drops them: clients expect none. */
  #readTrailer(bytes: Buffer, at: number): number | undefined {
    const line = lineAt(bytes, at, Math.max(0, headBytesMax - this.#trailerBytes));
    if (line === undefined) return undefined;
    this.#trailerBytes += line.length + 2;
    if (line === '') this.#end();
    else checkTrailer(line);
    return at + line.length + 2;
  }

  #end(): void {
    this.#state = 'ended';
    this.#handler.onEnd();
  }
}

function notHttp(): NotHttp {
  return new NotHttp('The service does not answer in HTTP/1.1.');
}

/** The line at a position, without its line end; undefined if it is incomplete. @throws BadAnswer if it is too long. */
function lineAt(bytes: Buffer, at: number, bytesMax: number): string | undefined {
  const end = bytes.indexOf(lineEnd, at, 'latin1');
  // The last byte may be the beginning of the line end.
  if ((end < 0 ? bytes.length - 1 : end) - at > bytesMax) {
    throw new BadAnswer('A line of the body is too long.');
  }
  return end < 0 ? undefined : bytes.toString('latin1', at, end);
}

/** @throws BadAnswer if the line is not a header, or is one that would change where the answer ends. */
function checkTrailer(line: string): void {
  const colon = line.indexOf(':');
  if (colon < 0 || notInHead.test(line)) throw new BadAnswer('Invalid trailer after the last chunk.');
  if (notInTrailers.has(lowerCase(line.slice(0, colon)))) {
    throw new BadAnswer('A trailer must not set the length of the answer or end its connection.');
  }
}

const [tab, space] = [9, 32];

/** Removes surrounding spaces and tabs only; `trim` would remove more. */
function withoutBlanks(text: string): string {
  const isBlank = (at: number) => text.charCodeAt(at) === space || text.charCodeAt(at) === tab;
  let [from, to] = [0, text.length];
  while (from < to && isBlank(from)) from += 1;
  while (to > from && isBlank(to - 1)) to -= 1;
  return text.slice(from, to);
}

function lowerCase(name: string): string {
  if (!token.test(name)) throw new BadAnswer('Invalid header name.');
  return name.toLowerCase();
}
