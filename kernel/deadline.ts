// Limits how long callers wait for a result.
import { fail } from './errors.ts';

/** Thrown if a result did not arrive before the deadline. */
export class TooLate extends Error {}

export interface Deadline {
  /** Resolves with the result of the work. @throws TooLate after the deadline; before it, any error of the work. */
  wait<T>(work: Promise<T>): Promise<T>;
}

export function createDeadline(deadlineMs: number): Deadline {
  return {
    wait(work) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new TooLate(`No answer within ${deadlineMs} ms.`)), deadlineMs);
        work.then(
          (result) => {
            clearTimeout(timer);
            resolve(result);
          },
          (error: unknown) => {
            clearTimeout(timer);
            reject(error instanceof Error ? error : new Error(String(error)));
          },
        );
      });
    },
  };
}

// A check that takes longer is replaced by a new one: its connection may be dead while the dependency is up again.
const replaceAfterMs = 10_000;

/**
 * A readiness check that always answers in time. Callers share a running check, so that an unresponsive dependency is not asked by each.
 * @returns rejects with `unavailable` after so many ms, or earlier with the check's own error.
 */
export function checkedWithin(ms: number, check: () => Promise<void>): () => Promise<void> {
  const deadline = createDeadline(ms);
  let running: { startedAtMs: number; ended: Promise<void> } | undefined;
  return async () => {
    const now = performance.now();
    if (running === undefined || now - running.startedAtMs > replaceAfterMs) {
      const started = { startedAtMs: now, ended: check() };
      running = started;
      const forget = () => {
        if (running === started) running = undefined;
      };
      started.ended.then(forget, forget);
    }
    try {
      await deadline.wait(running.ended);
    } catch (error) {
      if (!(error instanceof TooLate)) throw error;
      fail(
        'unavailable',
        `A dependency of this service, such as its database, did not answer within ${ms} ms.`,
        {
          detail: error,
        },
      );
    }
  };
}
