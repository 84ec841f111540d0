// Sends a read to an instance of a room and its answer back: undici's pool without a copy between. Half the cost of a proxy.
// Hides how bytes go on, how fast, and what of a failure can be told: a timeout, a request that was never sent, a cut.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { Pool, type Dispatcher } from 'undici';
import { callOf, type Call } from './call.ts';

/** Why an attempt failed before or within its answer. */
export class AttemptFailed extends Error {
  /** `unsent`: no byte reached the room. `silent`: it took too long. `cut`: the connection broke. */
  readonly why: 'unsent' | 'silent' | 'cut';

  constructor(why: 'unsent' | 'silent' | 'cut', cause: Error) {
    super(cause.message, { cause });
    this.why = why;
  }
}

/** Sends one request to one instance. Resolves when the answer is sent on whole, or the client has left. @throws AttemptFailed. */
export interface Transport {
  send(url: string, request: IncomingMessage, response: ServerResponse, outgoing: Outgoing): Promise<void>;
  close(): void;
}

export interface Outgoing {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** What a room says to the gateway's connection, not to the client. */
export const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What the gateway does not pass on of an answer's head: that, and what it says itself. */
const keptHere: ReadonlySet<string> = new Set([
  ...hopByHop,
  'server-timing',
  'strict-transport-security',
  'x-content-type-options',
  'x-request-id',
]);

const connectTimeoutMs = 2_000;

/** @param silenceMs how long the room may be silent, before its answer or within it. */
export function createReader(urls: readonly string[], silenceMs: number): Transport {
  const pools = new Map(
    urls.map((url) => [
      url,
      new Pool(url, {
        pipelining: 1,
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
        connect: { timeout: connectTimeoutMs },
      }),
    ]),
  );
  return {
    send(url, request, response, { headers }) {
      return new Promise((resolve, reject) => {
        const pool = pools.get(url);
        if (pool === undefined) throw new Error(`There is no pool for ${url}.`);
        const handler = new Relay(response, callOf(request), resolve, (error) => reject(toFailed(error)));
        pool.dispatch({ method: request.method ?? 'GET', path: request.url ?? '/', headers }, handler);
      });
    },
    close() {
      for (const pool of pools.values()) void pool.destroy();
    },
  };
}

/** Hands an answer on as it comes, at the pace of the client; where the client leaves, the room is told. */
class Relay implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;
  readonly #call: Call;
  readonly #done: () => void;
  readonly #failed: (error: Error) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #bytesLeft = Number.NaN;

  constructor(response: ServerResponse, call: Call, done: () => void, failed: (error: Error) => void) {
    this.#response = response;
    this.#call = call;
    this.#done = done;
    this.#failed = failed;
    response.on('close', () => this.#onClose());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#response.closed) this.#onClose(); // it left while the request waited for a connection
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return; // "early hints" and the like stay between the room and the gateway
    // Bytes that a room sends beyond an answer would be taken for the answer to the next call on the connection.
    const call = this.#call;
    if (headers['x-request-id'] !== call.requestId) {
      controller.abort(new Error('The answer is to another request.'));
      return;
    }
    const head: string[] = [];
    for (const name in headers) {
      const value = headers[name];
      if (value === undefined || keptHere.has(name)) continue;
      if (typeof value === 'string') head.push(name, value);
      else for (const each of value) head.push(name, each);
    }
    call.roomTiming = headers['server-timing']?.toString();
    this.#bytesLeft = Number(headers['content-length'] ?? Number.NaN);
    this.#response.writeHead(status, head);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const response = this.#response;
    this.#bytesLeft -= chunk.length;
    if (this.#bytesLeft === 0) {
      response.end(chunk); // head and body in one write
      return;
    }
    if (response.write(chunk)) return;
    controller.pause();
    response.once('drain', () => controller.resume());
  }

  onResponseEnd(): void {
    if (!this.#response.writableEnded) this.#response.end();
  }

  onResponseError(_controller: object, error: Error): void {
    if (this.#response.closed || this.#response.writableEnded) this.#done();
    else this.#failed(error);
  }

  #onClose(): void {
    if (!this.#response.writableFinished) this.#controller?.abort(new Error('The client has left.'));
    this.#done();
  }
}

function toFailed(error: Error): AttemptFailed {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT')
    return new AttemptFailed('unsent', error);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new AttemptFailed('silent', error);
  }
  return new AttemptFailed('cut', error);
}
