// Sends the gateway's own failures, each in the format that the path's clients parse, and logs each once.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { entryAt } from '../kernel/entries.ts';
import { toFailure } from '../kernel/errors.ts';
import { errorAnswer } from '../kernel/wire/error-form.ts';
import type { Log } from '../kernel/log/log.ts';
import { callIfOpen } from './call.ts';
import { readableByAll } from './policies/cors.ts';

/** What is needed to answer failures: the log, and the public URL of the pages that explain errors. */
export interface Refusals {
  log: Log;
  publicUrl: string;
}

/** Answers a thrown value. If an answer has begun or the client has left, it closes the connection, as nothing else can be sent. */
export function answerFailure(
  { log, publicUrl }: Refusals,
  request: IncomingMessage,
  response: ServerResponse,
  thrown: unknown,
): void {
  if (request.errored !== null && !request.complete) {
    response.destroy(); // the client left before its request was complete
    return;
  }
  const failure = toFailure(thrown);
  const call = callIfOpen(request);
  if (call !== undefined) call.failureCode = failure.code;
  const entry = { request_id: call?.requestId, code: failure.code, path: call?.path, err: failure.detail };
  if (failure.status >= 500) log.error(entry, failure.message);
  else if (failure.detail !== undefined) log.info(entry, failure.message);
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const requestId = call?.requestId;
  const { type, body } = errorAnswer(request.url ?? '', failure, { publicUrl, requestId });
  response.statusCode = failure.status;
  for (const [name, value] of Object.entries(failure.headers)) response.setHeader(name, value);
  // Before `cors` has decided, the answer contains nothing about an account, so any page may read the error.
  if (call?.isOriginChecked !== true)
    for (let i = 0; i < readableByAll.length; i += 2)
      response.setHeader(entryAt(readableByAll, i), entryAt(readableByAll, i + 1));
  response.setHeader('content-type', type);
  response.setHeader('cache-control', 'no-store');
  response.setHeader('content-length', Buffer.byteLength(body));
  response.end(body);
}
