// Enforces the rate limit: calls per second, per account by its plan, or per client IP for anonymous calls; 429 beyond.
import { limitKey } from '../../kernel/ip.ts';
import { fail } from '../../kernel/errors.ts';
import { callOf, callerOf, enterStage } from '../call.ts';
import type { Limits } from '../quota/limits.ts';
import type { Policy } from '../policy.ts';

export function rate(
  { limits, publicCallsPerSecond }: { limits: Limits; publicCallsPerSecond: number },
  by: 'account' | 'ip',
): Policy {
  return async (request, _response, next) => {
    const call = callOf(request);
    enterStage(call, 'rate');
    const callsPerSecond = by === 'account' ? callerOf(call).plan.calls_second : publicCallsPerSecond;
    const key = by === 'account' ? callerOf(call).accountId : limitKey(call.clientIp);
    const taken = call.admission?.second ?? (await limits.take(`${by}:${key}`, callsPerSecond));
    const resetSeconds = Math.max(1, Math.ceil(taken.resetMs / 1000));
    call.limits.push({
      policy: `"second";q=${callsPerSecond};w=1`,
      state: `"second";r=${taken.remaining};t=${resetSeconds}`,
    });
    if (!taken.allowed) {
      const whose = by === 'account' ? 'the plan' : 'the limit for one IP address';
      fail('rate_limited', `Too many requests: ${whose} allows ${callsPerSecond} a second.`, {
        headers: { 'retry-after': String(resetSeconds) },
      });
    }
    next();
  };
}
