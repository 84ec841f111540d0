// Bounds how long callers wait, and still delivers late results so that they can be undone.
// Hides the timers, and the results that are still outstanding when the process ends.
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { fail } from './errors.ts';

/** Thrown if a result did not arrive before the deadline. */
export class TooLate extends Error {}

export interface Deadline {
  /**
   * Resolves with the result of the work. @param onLate receives a result that arrives after the deadline; late failures are dropped.
   * @throws TooLate after the deadline; before it, whatever the work throws.
   */
  wait<T>(work: Promise<T>, onLate?: (result: T) => void): Promise<T>;
  /** Resolves when no work is outstanding, late results included, or after so many ms. */
  allEnded(withinMs: number): Promise<void>;
}

export function createDeadline(deadlineMs: number): Deadline {
  let waitedFor = 0;
  let noneLeft: (() => void) | undefined;

  function ended(): void {
    waitedFor -= 1;
    if (waitedFor === 0) noneLeft?.();
  }

  return {
    wait(work, onLate) {
      return new Promise((resolve, reject) => {
        waitedFor += 1;
        let isLate = false;
        const timer = setTimeout(() => {
          isLate = true;
          reject(new TooLate(`There was no answer for ${deadlineMs} ms.`));
        }, deadlineMs);
        work.then(
          (result) => {
            clearTimeout(timer);
            if (isLate) onLate?.(result);
            else resolve(result);
            ended();
          },
          (error: unknown) => {
            clearTimeout(timer);
            reject(error instanceof Error ? error : new Error(String(error)));
            ended();
          },
        );
      });
    },
    async allEnded(withinMs) {
      if (waitedFor > 0) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          noneLeft = resolve;
          timer = setTimeout(resolve, withinMs);
        });
        clearTimeout(timer);
      }
      await endOfTurn(); // lets the last caller act on its result
    },
  };
}

// One that hangs for longer is given up: its connection may be dead, and the dependency back.
const sharedForMs = 10_000;

/**
 * A check of readiness that always answers: callers share one that is under way, so that a dependency that hangs is not asked by each.
 * @returns rejects with `unavailable` after so many ms, and with what the check throws before.
 */
export function checkedWithin(ms: number, check: () => Promise<void>): () => Promise<void> {
  const deadline = createDeadline(ms);
  let underWay: { begunAtMs: number; ended: Promise<void> } | undefined;
  return async () => {
    const now = performance.now();
    if (underWay === undefined || now - underWay.begunAtMs > sharedForMs) {
      const begun = { begunAtMs: now, ended: check() };
      underWay = begun;
      const forget = () => {
        if (underWay === begun) underWay = undefined;
      };
      begun.ended.then(forget, forget);
    }
    try {
      await deadline.wait(underWay.ended);
    } catch (error) {
      if (!(error instanceof TooLate)) throw error;
      fail(
        'unavailable',
        `What this service depends on, such as its database, did not answer within ${ms} ms.`,
        {
          detail: error,
        },
      );
    }
  };
}
