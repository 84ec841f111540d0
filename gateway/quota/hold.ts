// Calls of a month that are under way: drawn from an allotment, and neither served nor put back yet. Hides which allotment it is, and
// who must be told how they end.
import type { Clock } from '../../kernel/clock.ts';

/** How long calls may be served after their gateway last knew that the allotment they are from is open. */
export const leaseMs = 60_000;
/** After this time the lease on an allotment with calls under way is renewed. */
export const renewAfterMs = 15_000;
/** How often a gateway looks for leases to be renewed. */
export const renewEveryMs = 5_000;

/** A smaller difference comes from reading two clocks one after the other. */
const suspendedMsMin = 100;

/**
 * The clock of the leases, in ms: it never goes back, and counts the time for which the process or the whole machine was suspended,
 * as the monotonic clock of Node does not.
 */
export function leaseClock(clock: Clock): () => number {
  const differenceMs = () => clock.now().getTime() - performance.now();
  let beforeMs = differenceMs();
  let suspendedMs = 0;
  return () => {
    const nowMs = differenceMs();
    // A clock that was set forward counts as a suspension. It may be set back again: the leases go on from there.
    if (nowMs - beforeMs > suspendedMsMin) suspendedMs += nowMs - beforeMs;
    beforeMs = nowMs;
    return performance.now() + suspendedMs;
  };
}

/** An allotment as the calls drawn from it need it. */
export interface Source {
  /** `nowMs` before which its calls may be served; after that, others may have been granted them. */
  readonly leasedUntilMs: number;
  /** Notes that so many calls were served. */
  spend(calls: number): void;
  /** Takes back so many calls, which the next call can draw at once. */
  putBack(calls: number): void;
}

/** The calls that one request counts as. */
export class Hold {
  readonly calls: number;
  readonly #source: Source;
  readonly #nowMs: () => number;
  #hasEnded = false;

  constructor(source: Source, calls: number, nowMs: () => number) {
    this.#source = source;
    this.calls = calls;
    this.#nowMs = nowMs;
  }

  /** Whether the request may be answered 2xx or 304: not once the calls may have been granted to others. */
  get isValid(): boolean {
    return this.#nowMs() < this.#source.leasedUntilMs;
  }

  /** Ends the calls, the first time it is called. */
  end(served: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (served) this.#source.spend(this.calls);
    else this.#source.putBack(this.calls);
  }
}
