// Runs a periodic job of the publisher: looks for due work again and again. No error ends the loop.
import type { Log } from '../../../kernel/log/log.ts';

export interface Work {
  /** From the end of one run to the beginning of the next. */
  everyMs: number;
  /** Logged with the error of a run; once while every run throws the same error. */
  fault: string;
  event: string;
  /** Does the due work. @returns true to run again at once. @param signal stops uncommitted work. */
  look(signal: AbortSignal): Promise<boolean>;
}

/** The clock of releases, and of tests. */
export interface Pauses {
  /** Resolves after the time, or at once when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Running {
  /** Stops uncommitted work, and resolves when nothing is running. */
  close(): Promise<void>;
}

export function run(
  { everyMs, fault, event, look }: Work,
  { clock, log }: { clock: Pauses; log: Log },
): Running {
  const stopping = new AbortController();
  let logged = '';
  async function work(): Promise<void> {
    while (!stopping.signal.aborted) {
      let isMore = false;
      try {
        isMore = await look(stopping.signal);
        logged = '';
      } catch (error) {
        const reason = String(error);
        if (reason !== logged) log.error({ event, err: error }, fault);
        logged = reason;
      }
      if (!isMore) await clock.pause(everyMs, stopping.signal);
    }
  }
  const working = work();
  return {
    async close() {
      stopping.abort();
      await working;
    },
  };
}
