// The HTTP server: passes each request to the compiled pipelines or the engine, and answers protocol errors with the API's error envelope.
import { randomUUID } from 'node:crypto';
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { Failure, toEnvelope } from '../kernel/errors.ts';
import { openResponses } from '../kernel/http/open-responses.ts';
import { headBytesMax } from '../kernel/http/server.ts';
import { answerFailure } from './send-failure.ts';
import { callIfOpen } from './call.ts';
import type { Metrics } from './observability/metrics.ts';
import type { EngineApp } from './engine/express-gateway-plugin.ts';
import { isPublicOnTls, type SetOptions } from './options.ts';
import { readableByAll } from './policies/cors.ts';
import type { RunCompiled } from './policy.ts';
import { GatewayResponse, onTlsOnly, safety } from './response-headers.ts';
import { clientIdleMs } from './timeouts.ts';

/** Runs the calls: the compiled pipelines and, for all other paths, the engine's app. */
export interface Pipelines {
  runCompiled: RunCompiled;
  app: EngineApp;
}

/** By connection: its last request. Nothing after it is read as a request. */
const lastRequests = new WeakMap<Duplex, IncomingMessage>();

/** Creates the server; it does not listen yet. @param pipelines the current ones, for each new call. */
export function createGatewayServer(
  options: SetOptions,
  metrics: Pick<Metrics, 'malformed'>,
  pipelines: () => Pipelines,
): Server {
  const { log, publicUrl, requestWithinMs, upstreamTimeoutMs } = options;
  /** The headers of all answers without a call, alternating names and values. */
  const own = [...safety, ...readableByAll, ...(isPublicOnTls(options) ? onTlsOnly : [])];
  const serverOptions = {
    maxHeaderSize: headBytesMax,
    requestTimeout: requestWithinMs,
    headersTimeout: Math.ceil(requestWithinMs / 3),
    connectionsCheckingInterval: Math.ceil(requestWithinMs / 15),
    keepAliveTimeout: clientIdleMs,
    ServerResponse: GatewayResponse,
    optimizeEmptyRequests: true, // a request without a body is not a stream to be drained
    // Upgrades are ignored, and the request is served. Node discards the bytes already received after it, so bytes received later may begin in the
    // middle of a request. It is therefore the last request of the connection.
    shouldUpgradeCallback(request: IncomingMessage) {
      lastRequests.set(request.socket, request);
      return false;
    },
    requireHostHeader: false, // Node would answer a missing Host with an empty 400; `framing` answers with the envelope
  };
  const server = createServer(serverOptions, (request, response) => {
    if (isBehindLast(request, response)) return;
    const { runCompiled, app } = pipelines();
    if (runCompiled(request, response) !== undefined) return;
    app(request, response, (error) => answerFailure(options, request, response, unanswered(error)));
  });
  // Closes a connection that is idle during a call. The limit covers the slowest read, whose first attempt breaks just before its timeout and is
  // repeated, and the time to receive the request.
  server.timeout = 2 * upstreamTimeoutMs + requestWithinMs;
  const responses = openResponses(server);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    responses.add(response);
    if (isBehindLast(request, response)) return;
    const failure = new Failure('invalid_request', 'Only Expect: 100-continue is supported.');
    if (isPublicOnTls(options)) response.setHeader(...onTlsOnly);
    answerFailure(options, request, response, failure);
  });
  server.on('clientError', (error: ParserError, socket: Duplex) => {
    const answer = responses.on(socket);
    // Bytes after a request that closes the connection are ignored (RFC 9112, section 9.6); its answer is still sent.
    if (error.code === 'HPE_CLOSED_CONNECTION' && answer !== undefined) return;
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUploading(answer)) return; // an upload has its own time limit
    // Within an answer, a second one would be read as part of the first.
    const isCut = !socket.writable || error.code === 'ECONNRESET' || answer?.headersSent === true;
    if (isCut) socket.destroy();
    else refuse(socket, malformed(error), error.rawPacket?.toString('latin1', 0, 5) === 'HEAD ');
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    refuse(socket, new Failure('method_not_allowed', 'CONNECT is not supported.'));
  });

  /** Answers an invalid request that has no call, with its own request id and log line, and closes the connection. */
  function refuse(socket: Duplex, failure: Failure, isHead = false): void {
    const requestId = randomUUID();
    metrics.malformed();
    log.info({ request_id: requestId, status: failure.status, code: failure.code }, failure.message);
    socket.on('error', () => socket.destroy()); // the client has left
    const { head, body } = rawAnswer(failure, { requestId, own, publicUrl });
    socket.end(isHead ? head : head + body); // after the head of an answer to HEAD, further bytes would begin another answer
  }
  return server;
}

/** Whether the request arrived after the last one of its connection and is ignored. The last one's answer closes the connection. */
function isBehindLast(request: IncomingMessage, response: ServerResponse): boolean {
  const last = lastRequests.get(request.socket);
  if (last === request) response.shouldKeepAlive = false;
  return last !== undefined && last !== request;
}

function isUploading(answer: ServerResponse | undefined): boolean {
  return answer?.req.complete === false && callIfOpen(answer.req)?.isUpload === true;
}

/** The failures that the engine would answer with its own HTML page: no route, or an error in the engine. */
function unanswered(error: unknown): unknown {
  if (error === undefined || error === null)
    return new Failure('not_found', 'No endpoint exists at this path.');
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  return status >= 500 ? error : new Failure('invalid_request', 'The URL is malformed.', { detail: error });
}

/** An error of Node's parser, with the bytes that it was reading. */
type ParserError = NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number };

function malformed(error: ParserError): Failure {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    // Without a line end, the overflow is in the first line, which contains the URL.
    return error.rawPacket?.subarray(0, error.bytesParsed).includes('\n') === false
      ? new Failure('uri_too_long', 'The URL is too long. URL and headers together may have at most 16 KB.')
      : new Failure(
          'header_fields_too_large',
          'The headers are too long. URL and headers together may have at most 16 KB.',
        );
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Failure('request_timeout', 'The request did not arrive in time.');
  }
  return new Failure('invalid_request', 'The request is not valid HTTP/1.1.');
}

function rawAnswer(
  failure: Failure,
  { requestId, own, publicUrl }: { requestId: string; own: readonly string[]; publicUrl: string },
) {
  const body = JSON.stringify(toEnvelope(failure, publicUrl, requestId));
  const head = [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ''}`,
    'connection: close',
    'content-type: application/json; charset=utf-8',
    'cache-control: no-store',
    ...own.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${own[i + 1]}`] : [])),
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    '',
  ].join('\r\n');
  return { head, body };
}
