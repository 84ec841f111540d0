// The lease on the state of the data: while it is valid, no newer load can have been reported, so the gateway may answer from memory. It asks
// data-api for the newest load; a writer that reports a load waits until older leases have ended (`visibleAfterMs`). An instance with an outdated
// database grants no lease.
import { z } from 'zod';
import { anonymous, createSealer, identityHeader } from '../../kernel/identity.ts';
import { answerLeaseMs, newestLoadPath, type DataState } from '../../kernel/http/validity.ts';
import type { Log } from '../../kernel/log/log.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

export type DataLease = ReturnType<typeof createDataLease>;

/** Grants, times and renews a lease. */
export interface LeaseSource {
  /** Asks for the current state of the data. */
  ask(): Promise<DataState>;
  /** In ms; never goes back. */
  now(): number;
  /** Runs it once after so many ms. @returns cancels it. */
  after(ms: number, run: () => void): () => void;
}

const renewEveryMs = 250;
/** A later answer would arrive after the lease that it grants has ended. */
const answersWithinMs = answerLeaseMs;
/** The error codes of a refused or broken connection; an instance that is only slow may still serve calls. */
const isBroken = /^(ECONNREFUSED|ECONNRESET|EPIPE|UND_ERR_SOCKET)$/;
const stateSchema: z.ZodType<DataState> = z.object({ edition: z.string(), load: z.int().min(0) });

/** @param idleAfterMs a lease that is unused for this long is not renewed until it is needed. */
export function createDataLease(source: LeaseSource, log: Log, idleAfterMs = 5_000) {
  let newest: DataState | undefined;
  let leasedUntilMs = -Infinity;
  let usedAtMs = -Infinity;
  let isClosed = false;
  let isRenewing = false;
  let cancelRenewal = () => {};

  async function renew(): Promise<void> {
    isRenewing = true;
    const askedAtMs = source.now(); // before the grant, so the lease never outlasts it
    try {
      const found = await source.ask();
      // This instance's database is behind that of another one.
      if (newest?.edition === found.edition && found.load < newest.load)
        throw new Error(`data-api reported load ${found.load} after load ${newest.load}.`);
      newest = found;
      leasedUntilMs = askedAtMs + answerLeaseMs;
    } catch (error) {
      log.debug({ err: error }, 'the lease on the data could not be renewed');
    }
    isRenewing = !isClosed && source.now() - usedAtMs <= idleAfterMs;
    if (isRenewing) cancelRenewal = source.after(renewEveryMs, () => void renew());
  }

  return {
    /** The state of the data that every answer must include; undefined without a lease, which is then requested. */
    current(): DataState | undefined {
      usedAtMs = source.now();
      if (!isRenewing && !isClosed) void renew();
      return usedAtMs < leasedUntilMs && !isClosed ? newest : undefined;
    },
    /** Ends the lease. */
    close(): void {
      isClosed = true;
      cancelRenewal();
    },
  };
}

/** Asks the instances of data-api, and measures time by the clock of the process. */
export function leaseSource(upstreams: Upstreams, identitySecret: string): LeaseSource {
  const seal = createSealer(identitySecret, upstreams.name);
  const ourselves = { ...anonymous, scope: 'internal' } as const;
  return {
    async ask() {
      const origin = upstreams.pick(); // not repeated after a failure: calls are forwarded meanwhile, and the next renewal asks the next instance
      const headers = { [identityHeader]: seal(ourselves, 'GET', newestLoadPath) };
      const signal = AbortSignal.timeout(answersWithinMs);
      const asked = fetch(origin + newestLoadPath, { headers, signal });
      const response = await asked.catch((error: Error & { cause?: NodeJS.ErrnoException }) => {
        if (isBroken.test(error.cause?.code ?? '')) upstreams.failed(origin);
        throw error;
      });
      upstreams.answered(origin);
      const text = await response.text();
      if (!response.ok) throw new Error(`data-api answered ${response.status}: ${text}`);
      return stateSchema.parse(JSON.parse(text));
    },
    now: () => performance.now(),
    after(ms, run) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  };
}
