// Sends the call on to a room and its answer back. Hides the proxy: which headers go, who is asked, what a failure means.
import { Agent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Stream } from 'node:stream';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { Failure, fail } from '../../kernel/errors.ts';
import { createSealer, identityHeader } from '../../kernel/identity.ts';
import { callOf, type Call } from '../call.ts';
import type { Policy } from '../policy.ts';
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
// What a room says to the gateway's connection, not to the client.
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** One try at one instance. */
interface Attempt {
  body: Buffer;
  sentAtMs: number;
  timedOut: boolean;
  fail(error: Error): void;
}

export function createForwarder(options: ForwardOptions): Forwarder {
  const { upstreams } = options;
  const seal = createSealer(options.identitySecret, upstreams.name);
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 256 });
  const attempts = new WeakMap<IncomingMessage, Attempt>();
  const proxies = new Map(
    upstreams.urls.map((url) => [url, createProxy(url, agent, options.timeoutMs, attempts)]),
  );

  function send(
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
    repeated: boolean,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const url = upstreams.pick();
      const attempt: Attempt = {
        body,
        sentAtMs: performance.now(),
        timedOut: false,
        fail(error) {
          if (response.destroyed || response.writableEnded) return resolve(); // the client left, or was answered
          if (!attempt.timedOut) upstreams.failed(url);
          if (!repeated && !response.headersSent && isSafeToRepeat(request, attempt, error)) {
            return resolve(send(request, response, body, true));
          }
          reject(toFailure(upstreams.name, attempt, error));
        },
      };
      attempts.set(request, attempt);
      response.once('close', resolve);
      const proxy = proxies.get(url);
      if (proxy === undefined) throw new Error(`There is no proxy for ${url}.`);
      void proxy(request, response, (error) => {
        if (error instanceof Error) attempt.fail(error);
      });
    });
  }

  return {
    async policy(request, response) {
      const call = callOf(request);
      const body = await readBody(request);
      request.headers = headersFor(request, call, body, seal(call.identity));
      await send(request, response, body, false);
    },
    close: () => agent.destroy(),
  };
}

function createProxy(
  target: string,
  agent: Agent,
  timeoutMs: number,
  attempts: WeakMap<IncomingMessage, Attempt>,
) {
  const bodies = new WeakMap<ClientRequest, Buffer>();
  return createProxyMiddleware({
    target,
    agent,
    changeOrigin: true,
    proxyTimeout: timeoutMs,
    // Bodies are small and read already: sent whole, with their length, so that there is no framing to disagree on.
    // It also saves the pipe of a request without one (-15 % CPU a call, 2026-11-20).
    buffer: { pipe: (upstream: ClientRequest) => upstream.end(bodies.get(upstream)) } as unknown as Stream,
    ejectPlugins: true, // the default ones answer failures in plain text, and log addresses
    plugins: [
      (proxy) => {
        proxy.on('error', (error, request) => request && attempts.get(request)?.fail(error));
        proxy.on('proxyReq', (upstream, request) => {
          const attempt = attempts.get(request);
          if (attempt === undefined) return;
          bodies.set(upstream, attempt.body);
          upstream.once('timeout', () => void (attempt.timedOut = true));
        });
        proxy.on('proxyRes', (answer, request) => {
          const attempt = attempts.get(request);
          if (attempt !== undefined) callOf(request).upstreamMs = performance.now() - attempt.sentAtMs;
          for (const name of hopByHop) delete answer.headers[name];
        });
      },
    ],
  });
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

/** What was never sent may be sent again; so may a read that got no answer. A timeout is an answer: the room is overloaded. */
function isSafeToRepeat(request: IncomingMessage, attempt: Attempt, error: Error): boolean {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ECONNREFUSED') return true;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return isRead && !attempt.timedOut && (code === 'ECONNRESET' || code === 'EPIPE');
}

function toFailure(room: string, attempt: Attempt, error: Error): Failure {
  return attempt.timedOut
    ? new Failure('upstream_timeout', 'The service did not answer in time; try again.', {
        detail: new Error(`${room} was silent for too long`, { cause: error }),
      })
    : new Failure('upstream_error', 'The service failed to answer; try again.', {
        detail: new Error(`${room} could not be asked`, { cause: error }),
      });
}
