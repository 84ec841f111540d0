// Limits failed credentials per client IP address: invented, mistyped and revoked ones, each of which may cost a lookup. All gateways share the count
// through Redis. A credential that was accepted here before is never refused.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../kernel/clock.ts';
import { Failure } from '../../kernel/errors.ts';
import { limitKey } from '../../kernel/ip.ts';
import type { RateLimiter } from './calls-per-second.ts';

export type CredentialFailures = ReturnType<typeof createCredentialFailures>;

export interface CredentialFailuresOptions {
  rateLimiter: Pick<RateLimiter, 'countCall'>;
  /** Failures allowed per IP address. */
  perSecond: number;
  clock: Clock;
}

const knownMax = 10_000;
const refusedMax = 10_000;

export function createCredentialFailures(options: CredentialFailuresOptions) {
  const { rateLimiter, perSecond, clock } = options;
  const known = new LRUCache<string, true>({ max: knownMax });
  const refused = new LRUCache<string, { fromMs: number; untilMs: number }>({ max: refusedMax }); // by IP address

  /** @returns undefined if the IP address may try again. */
  function refusalOf(address: string): Failure | undefined {
    const { fromMs, untilMs } = refused.get(address) ?? { fromMs: 0, untilMs: 0 };
    const nowMs = clock.now().getTime();
    if (nowMs >= untilMs || nowMs < fromMs) return undefined; // a clock can also be set back
    const leftMs = untilMs - nowMs;
    const message = `Too many failed credentials: one IP address may send ${perSecond} a second.`;
    const leftSeconds = Math.max(1, Math.ceil(leftMs / 1000));
    return new Failure('rate_limited', message, { headers: { 'retry-after': String(leftSeconds) } });
  }

  return {
    /**
     * Refuses a credential before its lookup if too many from its IP address have failed. A credential that was accepted before always passes, so that
     * other clients of a shared IP address are not affected. @throws Failure rate_limited.
     */
    admit(clientIp: string, credential: string): void {
      if (refused.size === 0 || known.has(credential)) return;
      const refusal = refusalOf(limitKey(clientIp));
      if (refusal !== undefined) throw refusal;
    },
    /** Records an accepted credential. */
    accepted(credential: string): void {
      if (known.get(credential) === undefined) known.set(credential, true);
    },
    /** Counts a failed credential. @param credential undefined if it was not looked up. @returns the error to answer: the refusal, or `rate_limited`. */
    failed(clientIp: string, credential: string | undefined, refusal: Failure): Failure {
      if (credential !== undefined) known.delete(credential);
      const address = limitKey(clientIp);
      const refusedBefore = refusalOf(address);
      if (refusedBefore !== undefined) return refusedBefore;
      const { allowed, resetMs } = rateLimiter.countCall(`failures:${address}`, perSecond);
      if (allowed) return refusal;
      const fromMs = clock.now().getTime();
      refused.set(address, { fromMs, untilMs: fromMs + resetMs });
      return refusalOf(address) ?? refusal;
    },
  };
}
