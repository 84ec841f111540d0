// Counts what was served: after the response it journals the call, and hands back what was taken for it but not served.
// A call is billed if and only if the client was answered 2xx or 304, whole.
import type { ServerResponse } from 'node:http';
import { utcDate, type Clock } from '../../kernel/clock.ts';
import { callOf, callerOf, type Call } from '../call.ts';
import type { Journal } from '../quota/journal.ts';
import type { Policy } from '../policy.ts';

export function usage({ journal, clock }: { journal: Journal; clock: Clock }): Policy {
  return (request, response, next) => {
    const call = callOf(request);
    const { keyId } = callerOf(call);
    if (keyId === null) throw new Error('Calls are counted by key, and this pipeline accepts sessions.');
    const day = utcDate(clock.now());
    response.on('close', () => settle(journal, response, call, { keyId, day }));
    next();
  };
}

function settle(
  journal: Journal,
  response: ServerResponse,
  call: Call,
  { keyId, day }: { keyId: string; day: string },
): void {
  const { accountId } = callerOf(call);
  const { charge, admission } = call;
  const calls = charge?.calls ?? 1;
  const served = charge !== undefined && isServed(response);
  journal.record({
    accountId,
    keyId,
    day,
    endpoint: call.path.split('/')[2] ?? '',
    // Who left before the answer saw no 200: that is the client's doing, 4xx, as the log's 499.
    statusClass: response.headersSent ? Math.floor(response.statusCode / 100) : 4,
    calls,
    billed: served ? calls : 0,
  });
  const taken = charge ?? admission?.month; // what was taken with the key, and then refused on the way to `quota`
  if (taken !== undefined && !served) journal.refund(accountId, taken.month, taken.calls);
}

function isServed(response: ServerResponse): boolean {
  const { statusCode } = response;
  return response.writableFinished && ((statusCode >= 200 && statusCode < 300) || statusCode === 304);
}
