// Polls a condition, and fails with its name after a time limit, so that no test waits for ever.
import { setTimeout as pause } from 'node:timers/promises';

const pollEveryMs = 5;

/**
 * Resolves once the condition holds. @param what names it. @param withinMs ends a wait that would never end; results do not depend on it.
 * @throws Error that names the condition, if it does not hold in time.
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 120_000,
): Promise<void> {
  const giveUpAtMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > giveUpAtMs) throw new Error(`Not within ${withinMs} ms: ${what}.`);
    await pause(pollEveryMs);
  }
}

/** The result of a promise. @throws Error that names it, if it is not settled within this many ms. */
export async function within<T>(what: string, promise: Promise<T>, ms = 120_000): Promise<T> {
  const ended = new AbortController();
  const late = pause(ms, undefined, { signal: ended.signal }).then(() => {
    throw new Error(`Not within ${ms} ms: ${what}.`);
  });
  late.catch(() => undefined); // aborted once the promise has settled
  try {
    return await Promise.race([promise, late]);
  } finally {
    ended.abort();
  }
}

/** Resolves with the first value that is found. @param what names it. @throws Error as `until` does. */
export async function untilThere<T>(
  what: string,
  find: () => T | undefined | Promise<T | undefined>,
  withinMs?: number,
): Promise<T> {
  let found: T | undefined;
  await until(what, async () => (found = await find()) !== undefined, withinMs);
  return found as T;
}

/** Resolves once this many statements in the database wait for a lock. @param read runs a statement there, and returns its rows. */
export const untilWaiting = (read: (text: string) => Promise<readonly unknown[]>, count = 1): Promise<void> =>
  until(`${count} wait for a lock`, async () => {
    const rows = await read(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rows.length >= count;
  });
