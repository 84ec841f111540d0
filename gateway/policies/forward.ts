// Forwards the call to a service and its answer back: chooses the headers, the instance and the retries, and maps failures.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure, fail } from '../../kernel/errors.ts';
import { createSealer, identityHeader } from '../../kernel/identity.ts';
import { limitKey } from '../../kernel/ip.ts';
import type { ByteBudget } from '../../kernel/bodies/byte-budget.ts';
import { readBody } from '../bodies/read-body.ts';
import { callOf, enterStage, whenClosed, type Call } from '../call.ts';
import type { Traces } from '../observability/traces.ts';
import type { Policy } from '../policy.ts';
import { createProxy } from '../upstream/forward-write.ts';
import { createReader } from '../upstream/forward-read.ts';
import { AttemptFailed } from '../upstream/connections.ts';
import { Upload } from '../upstream/stream-upload.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

export interface ForwardOptions {
  upstreams: Upstreams;
  identitySecret: string;
  /** How long the service may be silent, before its answer or within it. */
  timeoutMs: number;
  /** How long a client may take to send a request, in addition to the time for an upload of the longest accepted size. */
  requestWithinMs: number;
  /** The memory budget of all client bodies. */
  bodies: ByteBudget;
  /** Null: calls are not traced, and the client's trace header is passed on. */
  traces: Traces | null;
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
// The first two attempts follow each other at once. Later ones wait for an instance that is being replaced.
const attemptsMax = 5;
const attemptPauseMs = 25;
const attemptsWithinMs = 1_000; // no third attempt begins after this, so a connect timeout (2 s) allows one more attempt
const traceparent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const noBody = Buffer.alloc(0);
// The buffer size of an upload's streams.
const uploadBytes = 256 * 1024;

export function createForwarder(options: ForwardOptions) {
  const { upstreams, traces } = options;
  const seal = createSealer(options.identitySecret, upstreams.name);
  const reader = createReader(upstreams.urls, options.timeoutMs);
  const proxy = createProxy(upstreams.urls, options.timeoutMs);
  return {
    async policy(request: IncomingMessage, response: ServerResponse): Promise<void> {
      const call = callOf(request);
      enterStage(call, 'upstream');
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const body = isRead ? noBody : await bodyOf(request, response, call, options);
      const identity = seal(call.identity, request.method ?? 'GET', request.url ?? '/');
      const headers = headersFor(request, call, body, identity);
      passTrace(headers, request, call, traces);
      const transport = isRead ? reader : proxy;
      const startedAtMs = performance.now();
      let failed: string | undefined;
      let sentTimes = 0;
      for (let attempt = 1; ; attempt += 1) {
        const url = upstreams.pick(failed);
        try {
          // A client that left before the answer is no evidence about the instance.
          if (await transport.send(url, request, response, { headers, body })) upstreams.answered(url);
          return;
        } catch (error) {
          if (body instanceof Upload && body.failure !== undefined) throw body.failure;
          if (!(error instanceof AttemptFailed)) throw error;
          // An error answer does not count: anyone who can provoke one could disable the instance for everybody.
          if (error.why === 'unsent' || error.why === 'cut') upstreams.failed(url);
          else if (error.why === 'unusable') upstreams.answered(url);
          if (error.why !== 'unsent') sentTimes += 1;
          const isLast = attempt >= attemptsMax || performance.now() - startedAtMs > attemptsWithinMs;
          const isOnce = response.headersSent || body instanceof Upload;
          if (isOnce || !mayRepeat(error.why, isRead, sentTimes) || (isLast && attempt > 1))
            throw toFailure(upstreams.name, error);
          if (attempt > 1) await pause(attemptPauseMs);
          failed = url;
        }
      }
    },
    /** Closes the idle connections to the service. */
    close: () => reader.close(),
  };
}

/**
 * A request that no instance has received may be sent again. A read may be sent twice, but not to every instance: it may be what breaks them. A
 * silent attempt is not repeated, as the service is overloaded.
 * @param sentTimes how often it has been sent.
 */
function mayRepeat(why: AttemptFailed['why'], isRead: boolean, sentTimes: number): boolean {
  if (why === 'unsent') return true;
  return why !== 'silent' && isRead && sentTimes < 2;
}

/** Replaces `forward` for a service that this gateway has no URL for. */
export const notSetUp: Policy = () => {
  fail('not_found', 'This endpoint is not set up here: the gateway has no PUBLISHER_URL.');
};

/** Alternating names and values. */
function headersFor(request: IncomingMessage, call: Call, body: Buffer | Upload, identity: string): string[] {
  const sent = request.headers;
  const headers: string[] = [];
  for (const name of passedOn) pass(headers, name, sent[name]);
  // The only cookie that a service uses: it binds a Google sign-in to the browser that began it.
  if (call.path.startsWith('/auth/google/')) pass(headers, 'cookie', sent.cookie);
  // Values that are shown once must not be shown to a prefetch.
  if (call.path.startsWith('/v1/account/key/')) {
    for (const name of ['purpose', 'sec-purpose']) pass(headers, name, sent[name]);
  }
  if (call.path.startsWith('/v1/bulk/'))
    for (const name of ['range', 'if-range']) pass(headers, name, sent[name]);
  // Stripe signs the bytes of its events, which are forwarded unchanged.
  if (call.path.startsWith('/billing/stripe/')) pass(headers, 'stripe-signature', sent['stripe-signature']);
  if (body instanceof Upload) pass(headers, 'content-length', sent['content-length']);
  else if (body.length > 0) headers.push('content-length', String(body.length));
  pass(headers, 'x-forwarded-for', call.clientIp);
  headers.push('x-request-id', call.requestId);
  headers.push('x-forwarded-proto', call.secure ? 'https' : 'http', identityHeader, identity);
  return headers;
}

function passTrace(headers: string[], request: IncomingMessage, call: Call, traces: Traces | null): void {
  const sent = request.headers;
  const isWellFormed = sent['traceparent'] !== undefined && traceparent.test(String(sent['traceparent']));
  if (traces !== null) headers.push('traceparent', traces.forwarded(request, call));
  else if (isWellFormed) pass(headers, 'traceparent', sent['traceparent']);
  if (isWellFormed) pass(headers, 'tracestate', sent['tracestate']);
}

const notInValue = /[^\t\x20-\x7e\x80-\xff]/;

/** @throws Error if a value would add a second header; Node's parser accepts no such value. */
function pass(headers: string[], name: string, given: string | string[] | undefined): void {
  if (given === undefined) return;
  const value = typeof given === 'string' ? given : given.join(', ');
  if (notInValue.test(value)) throw new Error(`The header ${name} contains illegal characters.`);
  headers.push(name, value);
}

async function bodyOf(
  request: IncomingMessage,
  response: ServerResponse,
  call: Call,
  { bodies, requestWithinMs }: ForwardOptions,
): Promise<Buffer | Upload> {
  if (call.body !== undefined) return call.body.bytes;
  if (!call.isUpload) return readBody(bodies, request, response, call);
  const reservation = bodies.reserve(limitKey(call.clientIp));
  whenClosed(call, response, () => reservation.release());
  reservation.grow(uploadBytes);
  return new Upload(request, requestWithinMs);
}

function toFailure(service: string, error: AttemptFailed): Failure {
  return error.why === 'silent'
    ? new Failure('upstream_timeout', 'The service did not respond in time. Try again.', {
        detail: new Error(`${service} did not answer in time`, { cause: error }),
      })
    : new Failure('upstream_error', 'The service failed to respond. Try again.', {
        detail: new Error(`${service} could not be reached`, { cause: error }),
      });
}
