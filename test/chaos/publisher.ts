// The operator of the chaos run: loads one value after the other into one point of a series, and notes when each was reported as done.
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { load } from '../../ingest/load/load.ts';
import { systemClock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';

/** A load that was reported as done. */
export interface Done {
  value: number;
  /** `performance.now()`. */
  atMs: number;
  /** Its number in the database, or that of a later one. Undefined: unknown, as the database did not answer. */
  load: number | undefined;
}

export interface Publisher {
  readonly failed: number;
  readonly done: readonly Done[];
  /** The newest value that was reported as done before that instant, and when. */
  doneBefore(atMs: number): Done;
  /** The newest value whose load was begun. */
  readonly newestStarted: number;
  stop(): Promise<void>;
}

/** The series, its point, and the value that it has before the first load. */
export const tick = { id: 'TICK', date: '2026-01-01', value: 0 };
const betweenLoadsMs = 20;

/** @param onDone runs at once when a load is reported as done. A load that fails, as PostgreSQL is away, is followed by the next. */
export function startPublisher(database: Database, onDone: () => void): Publisher {
  const done: Done[] = [];
  const first: Done = { value: tick.value, atMs: performance.now(), load: undefined };
  const state = { failed: 0, newestStarted: tick.value, isRunning: true };

  async function publish(value: number): Promise<void> {
    state.newestStarted = value;
    await load(database, {
      dataset: 'observations',
      input: Readable.from([`series_id,date,value\n${tick.id},${tick.date},${value}\n`]),
      seriesTimeZone: 'UTC',
      clock: systemClock,
    });
    const one: Done = { value, atMs: performance.now(), load: undefined };
    done.push(one);
    onDone();
    one.load = await newestLoad(database);
  }

  const loop = (async () => {
    for (let value = tick.value + 1; state.isRunning; value += 1) {
      await publish(value).catch(() => void (state.failed += 1));
      await pause(betweenLoadsMs);
    }
  })();
  return {
    done,
    get failed() {
      return state.failed;
    },
    get newestStarted() {
      return state.newestStarted;
    },
    doneBefore: (atMs) => done.findLast((one) => one.atMs <= atMs) ?? first,
    async stop() {
      state.isRunning = false;
      await loop;
    },
  };
}

/** Nobody else loads, so the newest load is the one that just ended. */
async function newestLoad(database: Database): Promise<number | undefined> {
  const rows = await database
    .query<{ load_no: string }>('select max(load_no)::text as load_no from data.loads', [])
    .catch(() => []);
  return rows[0] === undefined ? undefined : Number(rows[0].load_no);
}
