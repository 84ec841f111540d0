// A gateway's lease on the credential cache. While it holds one, accounts-api answers no change of a credential before the lease has
// ended or the change is known to be in force here. Hides the renewal.
import type { Log } from '../../kernel/log.ts';

/** What a lease is on. The same object for as long as one lease follows another without a gap, on the same generation. */
export interface Term {
  readonly generation: number;
}

export interface Lease {
  /** Undefined while there is no lease. */
  current(): Term | undefined;
  close(): void;
}

export interface LeaseOptions {
  /** Asks accounts-api for a lease; gives the generation. */
  ask(): Promise<number>;
  /** How long a lease is good for, from the moment at which it is asked for. */
  leaseMs: number;
  renewEveryMs: number;
  /** Where nobody has asked about the lease for so long, it is not renewed until somebody does. */
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
    const askedAtMs = performance.now(); // accounts-api counts from later on, so a lease never outlasts what it granted
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
