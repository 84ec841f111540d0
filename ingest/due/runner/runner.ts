// Runs what the publisher does by itself: looks for what is due, again and again. Hides that no fault ends this.
import type { Log } from '../../../kernel/log/log.ts';

export interface Work {
  /** From the end of one look to the beginning of the next. */
  everyMs: number;
  /** Logged with what a look throws: once, as long as each look throws the same. */
  fault: string;
  event: string;
  /** Does what is due. @returns true: look again at once. @param signal gives up what is not committed. */
  look(signal: AbortSignal): Promise<boolean>;
}

/** The clock of releases, and of tests. */
export interface Pauses {
  /** Resolves after the time, or at once when the signal aborts. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Running {
  /** Gives up what is not committed, and resolves when nothing is under way. */
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
