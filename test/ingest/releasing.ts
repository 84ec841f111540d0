// Shared by the tests of loads under embargo: a clock that decides when releases are due, and a publisher with its own role.
import { Readable } from 'node:stream';
import type { TestFn } from 'ava';
import { acceptUnderEmbargo, type Accepted, type Due } from '../../ingest/publisher/releases/accept.ts';
import {
  makeNextReleases,
  type Made,
  type ReleaseDeps,
} from '../../ingest/publisher/releases/make-releases.ts';
import type { ReleaseClock } from '../../ingest/publisher/releases/release-clock.ts';
import type { LoadOptions } from '../../ingest/load/store/load-options.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { until } from '../run/until.ts';
import { fakeClock, silentLog } from '../services/harness.ts';
import { daily } from './loading.ts';

export interface FakeReleaseClock extends ReleaseClock {
  set(instant: string): void;
  advance(ms: number): void;
  /** The number of callers that wait for a later instant. */
  waiting(): number;
}

/** A stopped clock: a pause ends when a test has moved the clock far enough. */
export function fakeReleaseClock(start: string): FakeReleaseClock {
  const clock = fakeClock(start);
  const sleepers = new Set<{ untilMs: number; wake: () => void }>();
  const wakeDue = () => {
    for (const sleeper of [...sleepers]) if (sleeper.untilMs <= clock.now().getTime()) sleeper.wake();
  };
  return {
    now: () => Promise.resolve(clock.now()),
    pause: (ms, signal) =>
      new Promise<void>((resolve) => {
        const sleeper = {
          untilMs: clock.now().getTime() + ms,
          wake() {
            sleepers.delete(sleeper);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal.addEventListener('abort', sleeper.wake, { once: true });
      }),
    set(instant) {
      clock.set(instant);
      wakeDue();
    },
    advance(ms) {
      clock.advance(ms);
      wakeDue();
    },
    waiting: () => sleepers.size,
  };
}

export interface Releasing {
  /** Connected as the owner. */
  database: Database;
  clock: FakeReleaseClock;
  /** Connected as a publisher. */
  deps: ReleaseDeps;
  /** Accepts CSV text as observations of new daily series. */
  accept(csv: readonly string[], due: Due | string, options?: Partial<LoadOptions>): Promise<Accepted>;
  /** Runs the next step of a publisher, which may wait for the clock. */
  makeNext(signal?: AbortSignal): Promise<Made>;
  /** Begins to make the due releases, and resolves when it waits for their instant. */
  prepared(signal?: AbortSignal): Promise<{ made: Promise<Made> }>;
}

const never = new AbortController().signal;

/** @param url of the test file's own database. */
export function startReleasing(test: TestFn, url: string, now: string): Releasing {
  const options = { applicationName: 'test', statementTimeoutMs: 0 };
  const database = openDatabase(url, silentLog, options);
  const byRole = openDatabase(serviceUrl(url, 'almanac_publisher'), silentLog, options);
  test.after.always(async () => {
    await byRole.close();
    await database.close();
  });
  const clock = fakeReleaseClock(now);
  const deps = { database: byRole, clock, log: silentLog };
  const makeNext = (signal = never) => makeNextReleases(deps, signal);
  return {
    ...{ database, clock, deps, makeNext },
    accept: (csv, due, more = {}) =>
      acceptUnderEmbargo(
        database,
        {
          ...{ dataset: 'observations', create: true, set: daily, seriesTimeZone: 'UTC' },
          input: Readable.from([Buffer.from(csv.join('\n'))]),
          ...more,
        },
        typeof due === 'string' ? { instant: due } : due,
        clock,
      ),
    async prepared(signal) {
      const made = makeNext(signal);
      let isOver = false;
      void made.then(
        () => (isOver = true),
        () => (isOver = true),
      );
      await until('the release waits for its instant', () => isOver || clock.waiting() > 0);
      return { made };
    },
  };
}
