// The clock of a service that shares a database with others: PostgreSQL's. An instant that one machine writes and another compares then means the
// same for both, even if the machines' clocks differ.
import { systemClock, type Clock } from '../clock.ts';
import { fail } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { selectInstant } from './database-clock.sql.ts';
import { repeat } from './repeat.ts';

export interface ServiceClock {
  clock: Clock;
  /** @throws Failure `unavailable` while the machine's clock differs so much from PostgreSQL's that services refuse each other's identities. */
  requireSynchronised(): void;
  close(): Promise<void>;
}

/** The source of the services' clock. `machine`: for tests that set the clock of a process. */
export const clockDefaults: { source: 'database' | 'machine' } = { source: 'database' };

const readEveryMs = 1_000;
/** A start waits no longer for the first reading: a service also starts while PostgreSQL is unavailable. */
const firstWithinMs = 2_000;
/** A slower reading is too inexact, if there is an earlier one. */
const readingMsMax = 500;
/** The tolerance of `almanac check`. */
const agreesMs = 2_000;
/** An identity is valid for a minute, and the gateway's clock may be off in the other direction. */
const synchronisedMs = 30_000;

/**
 * Between two readings the clock advances by elapsed monotonic time. Before the first reading it is the machine's clock.
 * @param given a test's clock, used instead. @param read runs a statement without parameters.
 */
export async function openServiceClock(
  given: Clock | undefined,
  read: (text: string) => Promise<readonly { now: Date }[]>,
  log: Log,
): Promise<ServiceClock> {
  if (given !== undefined || clockDefaults.source === 'machine') return fixed(given ?? systemClock);
  let reading: { instantMs: number; atMs: number } | undefined;
  let isReported = false;
  const nowMs = () =>
    reading === undefined ? Date.now() : reading.instantMs + performance.now() - reading.atMs;
  const aheadMs = () => Date.now() - nowMs();

  async function readOnce(): Promise<void> {
    const startedAtMs = performance.now();
    const [row] = await read(selectInstant);
    const durationMs = performance.now() - startedAtMs;
    if (row === undefined || (reading !== undefined && durationMs > readingMsMax)) return;
    reading = { instantMs: row.now.getTime(), atMs: startedAtMs + durationMs / 2 };
    const ahead = aheadMs();
    if (Math.abs(ahead) > agreesMs === isReported) return;
    isReported = !isReported;
    if (isReported) log.warn({ event: 'clock_differs', ahead_ms: Math.round(ahead) }, differenceText(ahead));
    else log.info({ event: 'clock_agrees' }, "The clock of this machine agrees with PostgreSQL's again");
  }

  const first = Promise.withResolvers<void>();
  const repeated = repeat(() => readOnce().then(first.resolve), {
    everyMs: readEveryMs,
    atOnce: true,
    onError(error) {
      log.debug({ err: error }, "PostgreSQL's clock could not be read; will retry");
      first.resolve();
    },
  });
  const late = setTimeout(first.resolve, firstWithinMs);
  await first.promise;
  clearTimeout(late);
  return {
    clock: { isDatabases: true, now: () => new Date(nowMs()) },
    requireSynchronised() {
      if (Math.abs(aheadMs()) > synchronisedMs) fail('unavailable', `${differenceText(aheadMs())}.`);
    },
    close: repeated.close,
  };
}

function fixed(clock: Clock): ServiceClock {
  return { clock, requireSynchronised: () => undefined, close: () => Promise.resolve() };
}

function differenceText(aheadMs: number): string {
  const seconds = `${(Math.abs(aheadMs) / 1_000).toFixed(0)} s ${aheadMs < 0 ? 'behind' : 'ahead of'}`;
  return `The clock of this machine is ${seconds} PostgreSQL's: synchronise both`;
}
