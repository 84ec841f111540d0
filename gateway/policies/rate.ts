// Enforces the rate limits, in calls per second; 429 beyond. Data calls count per account, by its plan; calls that manage an account count per key or
// session; all others per client IP address. Routes with their own counter are not affected by other calls.
import { z } from 'zod';
import { limitKey } from '../../kernel/ip.ts';
import { fail } from '../../kernel/errors.ts';
import { addLimit, callOf, callerOf, enterStage, type Call } from '../call.ts';
import type { RateLimiter, RateDecision } from '../limits/calls-per-second.ts';
import type { Policy } from '../policy.ts';

export const rateAction = z.strictObject({
  /** What the calls are counted by. */
  by: z.enum(['account', 'credential', 'ip']),
  /** The name of a separate counter, independent of the client's other calls. */
  of: z.enum(['revocation', 'readiness', 'operator']).optional(),
});
type RateAction = z.output<typeof rateAction>;

export interface RateOptions {
  rateLimiter: Pick<RateLimiter, 'countCall'>;
  /** Per client IP address. */
  publicCallsPerSecond: number;
  /** Per key or session. */
  managementCallsPerSecond: number;
}

const whose = {
  account: 'the plan allows',
  credential: 'the limit for managing an account with one key or session is',
  ip: 'the limit for one IP address is',
} as const;

export function rate(options: RateOptions, { by, of }: RateAction): Policy {
  return (request, _response, next) => {
    const call = callOf(request);
    enterStage(call, 'rate');
    const callsPerSecond = callsPerSecondOf(options, call, by);
    const counter = `${of ?? by}:${countedOf(call, by)}`;
    decide(call, callsPerSecond, options.rateLimiter.countCall(counter, callsPerSecond));
    return next();
  };

  function decide(call: Call, callsPerSecond: number, { allowed, remaining, resetMs }: RateDecision): void {
    const resetSeconds = Math.max(1, Math.ceil(resetMs / 1000));
    addLimit(call, `"second";q=${callsPerSecond};w=1`, `"second";r=${remaining};t=${resetSeconds}`);
    if (allowed) return;
    fail('rate_limited', `Too many requests: ${whose[by]} ${callsPerSecond} a second.`, {
      headers: { 'retry-after': String(resetSeconds) },
    });
  }
}

function callsPerSecondOf(options: RateOptions, call: Call, by: RateAction['by']): number {
  if (by === 'account') return callerOf(call).plan.calls_second;
  return by === 'credential' ? options.managementCallsPerSecond : options.publicCallsPerSecond;
}

/** The counter key of the call. */
function countedOf(call: Call, by: RateAction['by']): string {
  if (by === 'ip') return limitKey(call.clientIp);
  const { accountId, keyId } = callerOf(call);
  if (by === 'account') return accountId;
  const credential = keyId ?? call.identity.sessionId;
  if (credential === null) throw new Error('The caller has neither a key nor a session.');
  return credential;
}
