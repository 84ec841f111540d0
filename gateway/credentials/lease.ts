// A gateway's lease on the credential cache. While it has one, accounts-api answers a change of a credential only after the lease
// has ended or the change is known to be in force here. Hides the renewal.
import type { Log } from '../../kernel/log.ts';

/** The period of a lease. The same object while leases follow each other without a gap, on the same generation. */
export interface Term {
  readonly generation: number;
}

export interface Lease {
  /** Undefined without a lease. */
  current(): Term | undefined;
  close(): void;
}

export interface LeaseOptions {
  /** Requests a lease from accounts-api; returns the generation. */
  ask(): Promise<number>;
  /** How long a lease is valid from the moment of its request. */
  leaseMs: number;
  renewEveryMs: number;
  /** A lease that is not used for this long is not renewed until it is needed again. */
  idleAfterMs: number;
  log: Log;
}

export function createLease({ ask, leaseMs, renewEveryMs, idleAfterMs, log }: LeaseOptions): Lease {
  let term: Term | undefined;
  let leasedUntilMs = 0;
  let usedAtMs = performance.now();
  let closed = false;
  let renewing = false;
  let timer: NodeJS.Timeout | undefined;

  async function renew(): Promise<void> {
    renewing = true;
    const askedAtMs = performance.now(); // accounts-api counts from a later moment, so the lease never outlasts the grant
    try {
      const generation = await ask();
      if (askedAtMs >= leasedUntilMs || generation !== term?.generation) term = { generation };
      leasedUntilMs = askedAtMs + leaseMs;
    } catch (error) {
      log.debug({ err: error }, 'the credential cache is not used: there is no lease on it');
    }
    const isIdle = performance.now() - usedAtMs > idleAfterMs;
    if (!closed && !isIdle) timer = setTimeout(() => void renew(), renewEveryMs);
    else renewing = false;
  }

  return {
    current() {
      usedAtMs = performance.now();
      if (!renewing && !closed) void renew();
      return usedAtMs < leasedUntilMs ? term : undefined;
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
