// Limits the concurrent answers of an account by its plan: 429 beyond. A slot is freed however the answer ends: complete, cut off, failed, or
// abandoned by its client. An answer that exceeds its total deadline is ended with 504, or cut off if it has begun.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Failure, fail } from '../../kernel/errors.ts';
import { counted } from '../../kernel/text/counted.ts';
import { callOf, callerOf, enterStage, parentOf, whenClosed, type Call } from '../call.ts';
import { answerFailure, type Refusals } from '../send-failure.ts';
import type { Policy } from '../policy.ts';
import type { Answer, ConcurrencyLimiter } from '../limits/concurrent-answers.ts';

export function concurrency({
  limiter,
  refusals,
}: {
  limiter: Pick<ConcurrencyLimiter, 'begin'>;
  refusals: Refusals;
}): Policy {
  return (request, response, next) => {
    const call = callOf(request);
    enterStage(call, 'rate');
    const { accountId, plan } = callerOf(call);
    const started = limiter.begin(accountId, plan.concurrency, () => endLate(refusals, request, response));
    if (started instanceof Promise) return started.then((answer) => admit(call, response, answer, next));
    return admit(call, response, started, next);
  };
}

/** @param answer null: none could begin in time. @throws Failure rate_limited. */
function admit(call: Call, response: ServerResponse, answer: Answer | null, next: () => void): void {
  if (answer === null)
    fail(
      'rate_limited',
      `Too many requests at once: your plan allows ${counted(callerOf(call).plan.concurrency, 'concurrent request')}. Wait until one has ended.`,
      { headers: { 'retry-after': '1' } },
    );
  whenClosed(call, response, () => answer.end());
  // A read of a tool is closed with the tool's call, which may still make another read.
  if (parentOf(response.req) !== undefined) response.once('finish', () => answer.end());
  next();
}

function endLate(refusals: Refusals, request: IncomingMessage, response: ServerResponse): void {
  const message = 'The response exceeded the time limit. Request fewer observations per call.';
  answerFailure(refusals, request, response, new Failure('upstream_timeout', message));
}
