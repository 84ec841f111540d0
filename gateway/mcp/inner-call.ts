// Runs a read of /v1 inside a call of /mcp, through the same pipeline as if the client had sent it. The answer is collected instead of sent, and the
// read ends with the outer call, so it is charged only if the client has received the complete result.
import { IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { fail, Failure } from '../../kernel/errors.ts';
import { callOf, openWithin, whenClosed } from '../call.ts';
import type { RunCompiled } from '../policy.ts';
import { GatewayResponse } from '../response-headers.ts';

/** The outer call. */
export interface Outer {
  request: IncomingMessage;
  response: ServerResponse;
  /** Whether the reads count as served; if not, none is charged. */
  isServed: boolean;
  /** How many reads it has made. */
  reads: number;
}

export interface InnerAnswer {
  status: number;
  body: string;
}

const abandoned = 499; // as in the access log: the client left

/**
 * @param target path and query. @param asOf the `as_of` date of the tool call; undefined: none.
 * @throws Failure `upstream_error` if the answer is cut off, `not_found` for a path that no id can have.
 */
export async function readInside(
  dispatch: RunCompiled,
  outer: Outer,
  { target, asOf }: { target: string; asOf: string | undefined },
): Promise<InnerAnswer> {
  const outerCall = callOf(outer.request);
  const request = new IncomingMessage(outer.request.socket);
  // HTTP/1.0 has no chunked encoding, so all bytes after the head are the body.
  Object.assign(request, { method: 'GET', url: target, httpVersion: '1.0', httpVersionMajor: 1 });
  Object.assign(request, { httpVersionMinor: 0, complete: true });
  for (const name of ['traceparent', 'tracestate', 'user-agent']) {
    const sent = outer.request.headers[name];
    if (sent !== undefined) request.headers[name] = sent;
  }
  openWithin(request, { call: outerCall, asOf });
  outer.reads += 1;
  const response = new GatewayResponse(request);
  const pieces: Buffer[] = [];
  const connection = new Writable({
    write(piece: Buffer, _encoding, done) {
      pieces.push(piece);
      done();
    },
  });
  response.assignSocket(connection as unknown as Socket);
  whenClosed(outerCall, outer.response, () => {
    if (!outer.isServed || !outer.response.writableFinished) response.statusCode = abandoned;
    connection.destroy();
  });
  const ended = new Promise<void>((resolve, reject) => {
    response.once('finish', resolve);
    response.once('close', () => {
      reject(new Failure('upstream_error', 'The answer was cut off. Try again.'));
    });
  });
  ended.catch(() => undefined); // it is rejected with the connection, which may be after a throw below
  // No pipeline serves a path with characters that no id has.
  if (dispatch(request, response) === undefined)
    fail('not_found', 'No series has this id. `search` finds ids.');
  await ended;
  const bytes = Buffer.concat(pieces);
  return { status: response.statusCode, body: bytes.toString('utf8', bytes.indexOf('\r\n\r\n') + 4) };
}
