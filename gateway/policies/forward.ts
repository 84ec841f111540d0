// Sends the call on to a room and its answer back. Hides which headers go, who is asked, and what a failure means.
import type { IncomingMessage } from 'node:http';
import { Failure, fail } from '../../kernel/errors.ts';
import { createSealer, identityHeader } from '../../kernel/identity.ts';
import { callOf, enterStage, type Call } from '../call.ts';
import type { Policy } from '../policy.ts';
import { createProxy } from '../proxy.ts';
import { AttemptFailed, createReader } from '../reader.ts';
import type { Upstreams } from '../upstreams.ts';
import { bodyBytesMax } from './framing.ts';

export interface Forwarder {
  policy: Policy;
  /** Closes the idle connections to the room. */
  close(): void;
}

export interface ForwardOptions {
  upstreams: Upstreams;
  identitySecret: string;
  /** How long the room may be silent, before its answer or within it. */
  timeoutMs: number;
}

// What a room may read of a client's headers; all others stay here, hop-by-hop ones and unheard-of ones alike.
const passedOn = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'idempotency-key',
  'if-modified-since',
  'if-none-match',
  'origin',
  'user-agent',
];
const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const noBody = Buffer.alloc(0);

export function createForwarder(options: ForwardOptions): Forwarder {
  const { upstreams } = options;
  const seal = createSealer(options.identitySecret, upstreams.name);
  const reader = createReader(upstreams.urls, options.timeoutMs);
  const proxy = createProxy(upstreams.urls, options.timeoutMs);
  return {
    async policy(request, response) {
      const call = callOf(request);
      enterStage(call, 'upstream');
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const body = isRead ? noBody : await readBody(request);
      const headers = headersFor(request, call, body, seal(call.identity));
      const transport = isRead ? reader : proxy;
      for (let attempt = 1; ; attempt += 1) {
        const url = upstreams.pick();
        try {
          await transport.send(url, request, response, { headers, body });
          return;
        } catch (error) {
          if (!(error instanceof AttemptFailed)) throw error;
          if (error.why !== 'silent') upstreams.failed(url);
          // What was never sent may be sent again; so may a read that got no answer. Silence is an answer: the room is overloaded.
          const isRepeatable = error.why === 'unsent' || (error.why === 'cut' && isRead);
          if (attempt === 2 || response.headersSent || !isRepeatable) throw toFailure(upstreams.name, error);
        }
      }
    },
    close() {
      reader.close();
      proxy.close();
    },
  };
}

function headersFor(request: IncomingMessage, call: Call, body: Buffer, identity: string) {
  const headers: IncomingMessage['headers'] = {};
  for (const name of passedOn) {
    const value = request.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  if (traceparent.test(String(request.headers['traceparent']))) {
    headers['traceparent'] = request.headers['traceparent'];
    if (request.headers['tracestate'] !== undefined) headers['tracestate'] = request.headers['tracestate'];
  }
  // The one cookie of the service ties a sign-in with Google to the browser that began it.
  if (call.path.startsWith('/auth/google/') && request.headers.cookie !== undefined) {
    headers['cookie'] = request.headers.cookie;
  }
  if (body.length > 0) headers['content-length'] = String(body.length);
  headers['x-request-id'] = call.requestId;
  headers['x-forwarded-for'] = call.clientAddress;
  headers['x-forwarded-proto'] = call.secure ? 'https' : 'http';
  headers[identityHeader] = identity;
  return headers;
}

/** The whole body; `framing` has refused one that says it is too long, this one that is. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (request.headers['transfer-encoding'] === undefined && !Number(request.headers['content-length'] ?? 0)) {
    return Buffer.alloc(0);
  }
  const chunks: Buffer[] = [];
  let length = 0;
  // Not destroyed on leaving: a client whose body is too long must still read why.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bodyBytesMax) {
      fail('payload_too_large', `The body may have at most ${bodyBytesMax / 1024} KB.`, {
        headers: { connection: 'close' },
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toFailure(room: string, error: AttemptFailed): Failure {
  return error.why === 'silent'
    ? new Failure('upstream_timeout', 'The service did not answer in time; try again.', {
        detail: new Error(`${room} was silent for too long`, { cause: error }),
      })
    : new Failure('upstream_error', 'The service failed to answer; try again.', {
        detail: new Error(`${room} could not be asked`, { cause: error }),
      });
}
