// The lease on the state of the data: a gateway may answer from memory while no newer load can have been reported as done.
// It asks data-api for the newest load; whoever reports a load waits until leases of before have ended (`inForceAfterMs`).
// Hides the renewal, and that an instance whose database is behind grants nothing.
import { z } from 'zod';
import { anonymous, createSealer, identityHeader } from '../../kernel/identity.ts';
import { answerLeaseMs, newestLoadPath, type DataState } from '../../kernel/http/validity.ts';
import type { Log } from '../../kernel/log/log.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

export interface DataLease {
  /** The state of the data that every answer must include; undefined without a lease, which is then asked for. */
  current(): DataState | undefined;
  /** Gives the lease up. */
  close(): void;
}

/** What a lease is granted, counted and renewed by. */
export interface LeaseSource {
  /** Asks for the present state of the data. */
  ask(): Promise<DataState>;
  /** In ms; never goes back. */
  now(): number;
  /** Runs it once, so many ms later. @returns calls that off. */
  after(ms: number, run: () => void): () => void;
}

const renewEveryMs = 250;
/** Beyond this the answer would come when the lease that it grants has ended. */
const answersWithinMs = answerLeaseMs;
/** The codes of a connection that was refused or broken; one that is only slow may serve calls. */
const isBroken = /^(ECONNREFUSED|ECONNRESET|EPIPE|UND_ERR_SOCKET)$/;
const stateSchema: z.ZodType<DataState> = z.object({ edition: z.string(), load: z.int().min(0) });

/** @param idleAfterMs a lease that is not used for this long is not renewed until it is needed again. */
export function createDataLease(source: LeaseSource, log: Log, idleAfterMs = 5_000): DataLease {
  let newest: DataState | undefined;
  let leasedUntilMs = -Infinity;
  let usedAtMs = -Infinity;
  let isClosed = false;
  let isRenewing = false;
  let callOff = () => {};

  async function renew(): Promise<void> {
    isRenewing = true;
    const askedAtMs = source.now(); // it is granted later than this, so the lease never outlasts the grant
    try {
      const found = await source.ask();
      // An instance whose database is behind that of another one.
      if (newest?.edition === found.edition && found.load < newest.load)
        throw new Error(`data-api knows of load ${found.load}, after ${newest.load}.`);
      newest = found;
      leasedUntilMs = askedAtMs + answerLeaseMs;
    } catch (error) {
      log.debug({ err: error }, 'the lease on the state of the data was not renewed');
    }
    isRenewing = !isClosed && source.now() - usedAtMs <= idleAfterMs;
    if (isRenewing) callOff = source.after(renewEveryMs, () => void renew());
  }

  return {
    current() {
      usedAtMs = source.now();
      if (!isRenewing && !isClosed) void renew();
      return usedAtMs < leasedUntilMs && !isClosed ? newest : undefined;
    },
    close() {
      isClosed = true;
      callOff();
    },
  };
}

/** Asks the instances of data-api, and counts by the clock of the process. */
export function leaseSource(upstreams: Upstreams, identitySecret: string): LeaseSource {
  const seal = createSealer(identitySecret, upstreams.name);
  const ourselves = { ...anonymous, scope: 'internal' } as const;
  return {
    async ask() {
      const origin = upstreams.pick(undefined); // calls wait for what becomes of it, if it had failed before
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
