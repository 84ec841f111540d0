// Forwards the call to a service and its answer back. Hides which headers are sent, which instance is used, and how failures map.
import type { IncomingMessage } from 'node:http';
import { Failure, fail } from '../../kernel/errors.ts';
import { createSealer, identityHeader } from '../../kernel/identity.ts';
import { callOf, enterStage, type Call } from '../call.ts';
import type { Policy } from '../policy.ts';
import { createProxy } from '../upstream/proxy.ts';
import { createReader } from '../upstream/reader.ts';
import { AttemptFailed } from '../upstream/connections.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import { bodyBytesMax } from '../../kernel/http/server.ts';

export interface Forwarder {
  policy: Policy;
  /** Closes the idle connections to the service. */
  close(): void;
}

export interface ForwardOptions {
  upstreams: Upstreams;
  identitySecret: string;
  /** How long the service may be silent, before its answer or within it. */
  timeoutMs: number;
}

// The client headers that services may read; all others are dropped, including hop-by-hop and unknown ones.
const passedOn = [
  'accept',
  'accept-encoding',
  'content-type',
  'idempotency-key',
  'if-none-match',
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
          // Unsent requests may be sent again, and so may unanswered reads. Silence is not repeated: the service is overloaded.
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

/** Alternating names and values. */
function headersFor(request: IncomingMessage, call: Call, body: Buffer, identity: string): string[] {
  const sent = request.headers;
  const headers: string[] = [];
  for (const name of passedOn) pass(headers, name, sent[name]);
  if (sent['traceparent'] !== undefined && traceparent.test(String(sent['traceparent']))) {
    pass(headers, 'traceparent', sent['traceparent']);
    pass(headers, 'tracestate', sent['tracestate']);
  }
  // The only cookie of the service: it binds a sign-in with Google to the browser that began it.
  if (call.path.startsWith('/auth/google/')) pass(headers, 'cookie', sent.cookie);
  if (body.length > 0) headers.push('content-length', String(body.length));
  pass(headers, 'x-forwarded-for', call.clientIp);
  headers.push('x-request-id', call.requestId);
  headers.push('x-forwarded-proto', call.secure ? 'https' : 'http', identityHeader, identity);
  return headers;
}

const notInValue = /[^\t\x20-\x7e\x80-\xff]/;

/** @throws Error if a value would add a second header; Node's parser accepts none that does. */
function pass(headers: string[], name: string, given: string | string[] | undefined): void {
  if (given === undefined) return;
  const value = typeof given === 'string' ? given : given.join(', ');
  if (notInValue.test(value)) throw new Error(`The header ${name} holds what no header may.`);
  headers.push(name, value);
}

/** Reads the whole body. `framing` refuses bodies with an excessive Content-Length, this one those without. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (request.headers['transfer-encoding'] === undefined && !Number(request.headers['content-length'] ?? 0)) {
    return Buffer.alloc(0);
  }
  const chunks: Buffer[] = [];
  let length = 0;
  // Not destroyed on return: a client whose body is too long must still be able to read the error.
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

function toFailure(service: string, error: AttemptFailed): Failure {
  return error.why === 'silent'
    ? new Failure('upstream_timeout', 'The service did not respond in time. Try again.', {
        detail: new Error(`${service} was silent for too long`, { cause: error }),
      })
    : new Failure('upstream_error', 'The service failed to respond. Try again.', {
        detail: new Error(`${service} could not be asked`, { cause: error }),
      });
}
