// The HTTP server around the engine: what Node or the engine would answer by itself becomes the contract's envelope,
// and closing loses no call.
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { Failure, toEnvelope } from '../kernel/errors.ts';
import { closeServer } from '../kernel/http.ts';
import type { Log } from '../kernel/log.ts';
import { answerFailure } from './failure.ts';
import type { RunFlat } from './flat.ts';
import type { EngineApp } from './plugin.ts';

export const keepAliveTimeoutMs = 65_000; // longer than the idle time of common load balancers, 60 s

const serverOptions = {
  requestTimeout: 30_000,
  keepAliveTimeout: keepAliveTimeoutMs,
  requireHostHeader: false, // Node would answer a missing Host with an empty 400; `framing` answers it
};

/** The server that runs the flat pipelines and, for all other calls, the engine's app; it does not listen yet. */
export function createGatewayServer(runFlat: RunFlat, app: EngineApp, log: Log): Server {
  const answering = new WeakMap<Duplex, ServerResponse>();
  const server = createServer(serverOptions, (request, response) => {
    answering.set(request.socket, response);
    response.once('close', () => answering.delete(request.socket));
    if (runFlat(request, response) !== undefined) return;
    app(request, response, (error) => answerFailure(log, request, response, unanswered(error)));
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const failure = new Failure('invalid_request', 'Of the expectations, only 100-continue is met.');
    answerFailure(log, request, response, failure);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // In the middle of an answer, a second one would be read as part of the first.
    const isCut =
      !socket.writable || error.code === 'ECONNRESET' || answering.get(socket)?.headersSent === true;
    if (isCut) socket.destroy();
    else socket.end(rawAnswer(malformed(error)));
  });
  return server;
}

/** Stops listening; connections that fall idle are closed at once, calls under way are finished. */
export async function drain(server: Server): Promise<void> {
  const closeIdle = (_request: IncomingMessage, response: ServerResponse) => {
    response.once('close', () => setImmediate(() => server.closeIdleConnections()));
  };
  server.on('request', closeIdle);
  await closeServer(server);
}

/** What the engine hands to its own HTML page: no route of the map, or a fault in the engine. */
function unanswered(error: unknown): unknown {
  if (error === undefined || error === null)
    return new Failure('not_found', 'There is nothing at this address.');
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  return status >= 500
    ? error
    : new Failure('invalid_request', 'The address is malformed.', { detail: error });
}

function malformed(error: NodeJS.ErrnoException): Failure {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new Failure('header_fields_too_large', 'The headers, or the address, are too long.');
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Failure('invalid_request', 'The request did not arrive in time.');
  }
  return new Failure('invalid_request', 'The request is not valid HTTP/1.1.');
}

function rawAnswer(failure: Failure): string {
  const body = JSON.stringify(toEnvelope(failure));
  return [
    `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ''}`,
    'connection: close',
    'content-type: application/json; charset=utf-8',
    'x-content-type-options: nosniff',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
