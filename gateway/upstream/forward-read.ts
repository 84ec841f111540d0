// Forwards a read to an instance of a service and streams its answer back, with less CPU than http-proxy-middleware. Handles backpressure, and removes
// internal headers from the answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { validityHeader } from '../../kernel/http/validity.ts';
import { BadAnswer } from './answer-parser.ts';
import { callOf, type Call } from '../call.ts';
import { endAtEndOfTurn } from '../event-loop/end-of-turn.ts';
import { staysInside } from './hop-by-hop-headers.ts';
import { UpstreamConnections, type AttemptFailed, type Connection, type Exchange } from './connections.ts';

/**
 * Sends one request to one instance. Resolves when the answer has been sent completely, or the client has left, with whether the head of an answer
 * arrived. @throws AttemptFailed.
 */
export interface Transport {
  send(url: string, request: IncomingMessage, response: ServerResponse, outgoing: Outgoing): Promise<boolean>;
  close(): void;
}

export interface Outgoing {
  /** Lower-case names and values, alternating. */
  headers: readonly string[];
  /** A stream can be sent only once. */
  body: Buffer | Readable;
}

/** Headers of an answer that the gateway sets itself. */
const setHere: ReadonlySet<string> = new Set([
  'server-timing',
  'strict-transport-security',
  'x-as-of',
  'x-content-type-options',
  'x-request-id',
]);

/** @param silenceMs how long the service may be silent, before its answer or within it. */
export function createReader(urls: readonly string[], silenceMs: number): Transport {
  const services = new Map(
    urls.map((url) => [
      url,
      { host: new URL(url).host, connections: new UpstreamConnections(url, silenceMs) },
    ]),
  );
  return {
    send(url, request, response, { headers }) {
      const service = services.get(url);
      if (service === undefined) throw new Error(`There are no connections to ${url}.`);
      if (response.closed) return Promise.resolve(false); // the client has left
      const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
      const text = requestText(method, request.url ?? '/', service.host, headers);
      const relay = new Relay(response, callOf(request));
      return relay.follow(service.connections.send(method, text, relay));
    },
    close() {
      for (const { connections } of services.values()) connections.close();
    },
  };
}

const notInUrl = /[^\x21-\x7e\x80-\xff]/;

/** @throws Error if the text would contain more than one request; Node's parser accepts nothing that could cause this. */
function requestText(method: string, target: string, host: string, headers: readonly string[]): string {
  if (notInUrl.test(target)) throw new Error('The URL contains illegal characters.');
  let text = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}

/** Forwards an answer as it arrives, at the client's pace; closes the connection to the service if the client leaves. */
class Relay implements Exchange {
  readonly #response: ServerResponse;
  readonly #call: Call;
  readonly #ended = Promise.withResolvers<boolean>();
  #sent: Connection | undefined;
  #hasHead = false;
  /** Whether the response is answered, or will be at the end of the turn. */
  #isAnswered = false;

  constructor(response: ServerResponse, call: Call) {
    this.#response = response;
    this.#call = call;
    response.on('close', () => this.#onClose());
  }

  /** @returns as `Transport.send`. */
  follow(sent: Connection): Promise<boolean> {
    this.#sent = sent;
    return this.#ended.promise;
  }

  onHead(status: number, head: readonly string[]): void {
    const call = this.#call;
    const handedOn: string[] = [];
    let answersTo: string | undefined;
    let validity: string | undefined;
    for (let i = 0; i < head.length; i += 2) {
      const name = head[i] as string;
      const value = head[i + 1] as string;
      if (!setHere.has(name)) {
        if (!staysInside(name)) handedOn.push(name, value);
        else if (name === validityHeader) validity = value;
      } else if (name === 'x-request-id') answersTo = value;
      else if (name === 'server-timing') call.serviceTiming = value;
    }
    // Bytes that a service sends after an answer would be read as the answer to the next call on the connection.
    if (answersTo !== call.requestId) throw new BadAnswer('The answer is to another request.');
    this.#hasHead = true;
    call.capture?.onHead(status, handedOn, validity);
    this.#response.writeHead(status, handedOn);
  }

  onBody(bytes: Buffer, isLast: boolean): void {
    if (this.#isAnswered) return;
    const response = this.#response;
    const { capture } = this.#call;
    capture?.onBody(bytes);
    if (isLast) {
      this.#isAnswered = true;
      endAtEndOfTurn(response, bytes); // head and body in one write
      return;
    }
    // A captured answer is short, and other calls may wait for it, so it does not wait for this client.
    if (response.write(Buffer.from(bytes)) || capture?.isOpen === true) return;
    this.#sent?.pause();
    response.once('drain', () => this.#sent?.resume());
  }

  onEnd(): void {
    this.#sent = undefined; // another call may now use the connection
    this.#call.capture?.onEnd();
    if (!this.#isAnswered) this.#response.end();
  }

  onFailed(error: AttemptFailed): void {
    this.#sent = undefined;
    if (this.#response.closed || this.#response.writableEnded) this.#ended.resolve(this.#hasHead);
    else this.#ended.reject(error);
  }

  #onClose(): void {
    this.#sent?.abort();
    this.#ended.resolve(this.#hasHead);
  }
}
