// A gateway's lease on the answers of data-api that it keeps. Whoever changes the data waits until the lease has
// ended before saying that it is done. Hides the renewal.
import type { Log } from '../../kernel/log/log.ts';

/** The period of a lease. The same object while leases follow each other without a gap, on the same generation. */
export interface Term<Generation> {
  readonly generation: Generation;
}

export interface Lease<Generation> {
  /** Requests the lease before the first call needs it. Resolves when it is there, or could not be had. */
  open(): Promise<void>;
  /** Undefined without a lease. */
  current(): Term<Generation> | undefined;
  /** Gives the lease up. */
  close(): Promise<void>;
}

export interface LeaseOptions<Generation> {
  /** For the log: what is leased, such as `the state of the data`. */
  on: string;
  /**
   * Requests a lease. @param using the generation used until the answer; null: none.
   * @returns the present generation; the same value as before while it has not changed.
   */
  ask(using: Generation | null): Promise<Generation>;
  /** Tells that no generation is used any more; omitted if nobody needs to know. */
  end?(): Promise<void>;
  /** How long a lease is valid from the moment of its request. */
  leaseMs: number;
  renewEveryMs: number;
  /** A lease that is not used for this long is not renewed until it is needed again. */
  idleAfterMs: number;
  log: Log;
  /** That of the process by default. */
  time?: LeaseTime;
}

/** What leases are counted and renewed by. */
export interface LeaseTime {
  /** In ms; never goes back. */
  now(): number;
  /** Runs it once, so many ms later. @returns calls that off. */
  after(ms: number, run: () => void): () => void;
}

const processTime: LeaseTime = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

export function createLease<Generation>(options: LeaseOptions<Generation>): Lease<Generation> {
  const { on, ask, end, leaseMs, renewEveryMs, idleAfterMs, log, time = processTime } = options;
  let term: Term<Generation> | undefined;
  let leasedUntilMs = -Infinity;
  let usedAtMs = time.now();
  let closed = false;
  let renewing = false;
  let callOff = () => {};

  async function renew(): Promise<void> {
    renewing = true;
    const askedAtMs = time.now(); // it is granted later than this, so the lease never outlasts the grant
    const using = term !== undefined && askedAtMs < leasedUntilMs ? term.generation : null;
    let waitMs = renewEveryMs;
    try {
      const generation = await ask(using);
      if (using === null || generation !== using) term = { generation };
      leasedUntilMs = askedAtMs + leaseMs;
      if (using !== null && generation !== using) waitMs = 0; // a change waits to hear that the earlier one is not used any more
    } catch (error) {
      log.debug({ err: error }, `the lease on ${on} was not renewed`);
    }
    const isIdle = time.now() - usedAtMs > idleAfterMs;
    if (!closed && !isIdle) callOff = time.after(waitMs, () => void renew());
    else renewing = false;
  }

  return {
    open: renew,
    current() {
      usedAtMs = time.now();
      if (!renewing && !closed) void renew();
      return usedAtMs < leasedUntilMs && !closed ? term : undefined;
    },
    async close() {
      closed = true;
      callOff();
      if (term === undefined) return;
      await end?.().catch((error: unknown) => log.debug({ err: error }, `the lease on ${on} ends by itself`));
    },
  };
}
