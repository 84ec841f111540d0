// Answers a read from the response cache if it was answered before and no newer load can have been reported; otherwise lets it be forwarded, and
// caches the answer if data-api allows it. All checks and charges precede it. Concurrent requests with the same cache key are coalesced: one is
// forwarded, and the others wait for its answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../kernel/clock.ts';
import { encodingFor, etagMatches } from '../../kernel/http/reply.ts';
import { callOf, enterStage, whenClosed, type Call } from '../call.ts';
import { atEndOfTurn } from '../event-loop/end-of-turn.ts';
import type { Policy } from '../policy.ts';
import { createCaptures, type Outcome, type AnswerRequest } from '../response-cache/capture.ts';
import { isValid, type CachedAnswer, type AnswerCache } from '../response-cache/answer-cache.ts';
import type { DataLease } from '../response-cache/lease.ts';

export interface ResponseCacheOptions {
  lease: Pick<DataLease, 'current'>;
  answers: AnswerCache;
  clock: Clock;
}

/** A call whose answer is looked up. */
interface Lookup extends AnswerRequest {
  call: Call;
  request: IncomingMessage;
  response: ServerResponse;
}

const nameLengthMax = 2_000;

/** @param options undefined: nothing is cached. */
export function responseCache(options: ResponseCacheOptions | undefined): Policy {
  if (options === undefined) return (_request, _response, next) => next();
  const { lease, answers, clock } = options;
  const captures = createCaptures(answers, clock);

  return (request, response, next) => {
    const call = callOf(request);
    call.cache = 'miss';
    const needed = lease.current();
    const name = nameOf(call, request);
    if (needed === undefined || name.length > nameLengthMax) return next();
    return answerOrForward({ call, request, response, name, needed }, next);
  };

  /** Answers from the cache, waits for a call with the same key, or lets this call be forwarded. */
  function answerOrForward(lookup: Lookup, next: () => void): Promise<void> | void {
    if (sendValid(lookup)) return;
    const ended = captures.join(lookup);
    if (ended !== undefined) return sendWhenCached(ended, lookup, next);
    if (lookup.request.method === 'GET') capture(lookup);
    next();
  }

  /** @returns whether the call was answered. */
  function sendValid(lookup: Lookup): boolean {
    const cached = answers.get(lookup.name);
    if (cached === undefined || !isValid(cached, lookup.needed, clock.now().getTime())) return false;
    return send(lookup, cached);
  }

  async function sendWhenCached(ended: Promise<Outcome>, lookup: Lookup, next: () => void): Promise<void> {
    enterStage(lookup.call, 'upstream');
    const outcome = await ended;
    // The first waiting call is forwarded, and the others wait for it: together they would be a burst on data-api.
    if (outcome === 'left' && !lookup.response.closed) return answerOrForward(lookup, next);
    if (!sendValid(lookup)) next();
  }

  function capture(lookup: Lookup): void {
    const { call, response, name, needed } = lookup;
    const own = captures.begin({ name, needed });
    call.capture = own;
    whenClosed(call, response, () => own.end(response.writableEnded ? 'uncached' : 'left'));
  }
}

/** @returns false if the call needs the body and it is not cached. */
function send({ call, request, response }: Lookup, { etag, head, validators, body }: CachedAnswer): boolean {
  const isKnown = etagMatches(request.headers['if-none-match'], etag);
  if (!isKnown && body === undefined) return false;
  call.cache = 'hit';
  call.serviceTiming = 'cache;desc=hit';
  const sent = isKnown ? undefined : body;
  if (sent === undefined) response.writeHead(304, [...validators]);
  else response.writeHead(200, [...head, 'content-length', String(sent.length)]);
  atEndOfTurn(() => {
    if (!response.destroyed) response.end(sent);
  });
  return true;
}

/**
 * The cache key depends on what data-api's answer depends on: the URL as sent, without the key; the day that the key is pinned to; the features of
 * the plan; the encodings and types that the client accepts.
 */
function nameOf({ identity: { features, asOf } }: Call, { url = '', headers }: IncomingMessage): string {
  const encoding = encodingFor(headers['accept-encoding']);
  return `${encoding} ${asOf ?? ''} ${features.toSorted().join()} ${url} ${headers.accept ?? '*/*'}`;
}
