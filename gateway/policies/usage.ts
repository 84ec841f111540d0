// Records each call of a key in the journal after its response. A call is billed if it was charged and served.
import type { ServerResponse } from 'node:http';
import { utcDate, type Clock } from '../../kernel/clock.ts';
import { callOf, callerOf, whenClosed, type Call } from '../call.ts';
import { dayWithin } from '../heartbeat/calendar-month.ts';
import type { Journal } from '../heartbeat/journal.ts';
import { isServed } from '../billed-calls.ts';
import { groupName } from '../routes.ts';
import type { Policy } from '../policy.ts';

export interface UsageOptions {
  journal: Pick<Journal, 'record' | 'chargedFile'>;
  clock: Clock;
}

export function usage({ journal, clock }: UsageOptions): Policy {
  return (request, response, next) => {
    const call = callOf(request);
    const { keyId } = callerOf(call);
    if (keyId === null) throw new Error('Calls are counted by key, and this pipeline accepts sessions.');
    const day = utcDate(clock.now());
    whenClosed(call, response, () => record(journal, response, call, { keyId, day }));
    next();
  };
}

function record(
  journal: UsageOptions['journal'],
  response: ServerResponse,
  call: Call,
  { keyId, day }: { keyId: string; day: string },
): void {
  const { charge, chargedMonth, range } = call;
  const calls = charge?.calls ?? 1;
  const entry = {
    account_id: callerOf(call).accountId,
    key_id: keyId,
    // A call is billed in the month that it was charged to, even if the next month has begun, so that no month exceeds its limit.
    day: chargedMonth === undefined ? day : dayWithin(chargedMonth, day),
    endpoint: groupName(call.path),
    // If the client left before the answer, the call counts as 4xx, like the log's 499.
    status_class: response.headersSent ? Math.floor(response.statusCode / 100) : 4,
  };
  const charged = charge !== undefined && isServed(response) ? calls : 0;
  const billed = range === undefined ? charged : range.end(isServed(response));
  journal.record({ ...entry, calls, billed });
  // After the billed call: accounts-api refunds it if another gateway has charged the same file.
  if (range !== undefined && billed > 0) journal.chargedFile({ ...entry, file: range.file });
}
