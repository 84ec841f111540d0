// Declares the endpoints that only the gateway calls: a body and an answer, plain JSON without an envelope. They are not part of the public API.
import type { z } from 'zod';
import { parseBody } from '../kernel/http/params.ts';
import { sendJson } from '../kernel/http/reply.ts';
import type { Handler, ServiceCall } from '../kernel/http/server.ts';
import type { ServiceDeps } from './deps.ts';

interface Asked<Body> {
  body: Body;
  call: ServiceCall;
  /** Aborted when the gateway has left, or has its answer. */
  left: AbortSignal;
}

interface InternalEndpointOf<Body extends z.ZodType, Answer extends z.ZodType> {
  body: Body;
  answer: Answer;
  handler: (deps: ServiceDeps, asked: Asked<z.output<Body>>) => Promise<z.output<Answer>>;
}

/** The handler of a POST by the gateway. */
export type InternalEndpoint = (deps: ServiceDeps) => Handler;

/** Declares an internal endpoint. Answers are checked against `answer` by type only, to save time. */
export function internalEndpoint<Body extends z.ZodType, Answer extends z.ZodType>({
  body,
  handler,
}: InternalEndpointOf<Body, Answer>): InternalEndpoint {
  return (deps) => async (request, response, call) => {
    const over = new AbortController();
    response.once('close', () => over.abort());
    const asked = { body: parseBody(body, request.body), call, left: over.signal };
    sendJson(response, 200, await handler(deps, asked));
  };
}
