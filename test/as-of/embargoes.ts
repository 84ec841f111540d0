// Loads under embargo in the random histories: accepted on a day and released at their instants. Before that, no answer may contain their data.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { acceptUnderEmbargo } from '../../ingest/publisher/releases/accept.ts';
import { selectDue } from '../../ingest/publisher/releases/embargo.sql.ts';
import { makeNextReleases, type Made } from '../../ingest/publisher/releases/make-releases.ts';
import { findRelease } from '../../ingest/publisher/releases/release-actions.ts';
import { IngestFailure } from '../../ingest/failure.ts';
import type { ReleaseClock } from '../../ingest/publisher/releases/release-clock.ts';
import type { LoadOptions } from '../../ingest/load/store/load-options.ts';
import { addDays } from '../../kernel/dates.ts';
import type { Database } from '../../kernel/database.ts';
import { Failure } from '../../kernel/errors.ts';
import { daily, loadCsv } from '../ingest/loading.ts';
import { fakeReleaseClock } from '../ingest/releasing.ts';
import { until } from '../run/until.ts';
import { fakeClock, silentLog } from '../services/harness.ts';

/** The content of a load, and its options. */
export interface Written {
  dataset: string;
  lines: readonly string[];
  options?: Partial<LoadOptions>;
}

/** The release time of a load under embargo: the evening some days later, or an entry of the calendar. */
export type ReleaseTime = { days: number } | { entry: string };

/** The database with everything, and the one without anything published after the day. */
export interface Databases {
  whole: Database;
  cut: Database;
  day: string;
}

const never = new AbortController().signal;
/** How long before its instant a release is prepared. */
const preparedMs = 4_000;
/** Data that no answer may contain while the release is prepared. */
const secret: Written = {
  dataset: 'observations',
  lines: ['series_id,date,value', 'SECRET,2024-04-15,1', 'BENCH,2024-04-30,777'],
  options: { create: true, set: daily },
};

export class Embargoes {
  readonly #databases: Databases;
  readonly #date: (database: Database, at: string) => Promise<void>;
  readonly #clock = fakeReleaseClock('2024-01-01T00:00:00Z');
  /** By the number of the release, which both databases give alike. */
  readonly #written = new Map<number, Written>();
  #nowMs = 0;
  #prepared: Promise<Made> | undefined;

  /** @param date sets the times of the rows that a load has just written. */
  constructor(databases: Databases, date: (database: Database, at: string) => Promise<void>) {
    this.#databases = databases;
    this.#date = date;
  }

  /** Accepts it at noon of the day. */
  async accept(written: Written, releaseTime: ReleaseTime, today: string): Promise<void> {
    const { whole, cut, day } = this.#databases;
    this.#moveTo(Date.parse(`${today}T12:00:00Z`));
    const refused = await isRefused(() => this.#acceptOn(whole, written, releaseTime, today));
    if (today <= day)
      assert.equal(
        await isRefused(() => this.#acceptOn(cut, written, releaseTime, today)),
        refused,
        'on both sides',
      );
  }

  async #acceptOn(
    database: Database,
    written: Written,
    releaseTime: ReleaseTime,
    today: string,
  ): Promise<void> {
    const { dataset, lines, options } = written;
    const input = Readable.from([Buffer.from(lines.join('\n'))]);
    const due =
      'entry' in releaseTime
        ? { calendarId: releaseTime.entry }
        : { instant: `${addDays(today, releaseTime.days)}T18:00:00Z` };
    const wanted = { dataset, input, seriesTimeZone: 'UTC', ...options };
    const { releaseNo } = await acceptUnderEmbargo(database, wanted, due, this.#clock);
    this.#written.set(releaseNo, written);
  }

  /** Makes the releases that are due by then, each at its instant, or at once if the calendar has moved it to the past. */
  async makeUntil(end: string): Promise<void> {
    for (;;) {
      const [first] = await selectDue(this.#databases.whole);
      if (first === undefined || first.at.getTime() > Date.parse(end)) break;
      await this.#makeAt(
        first.at,
        (database) => makeNextReleases(depsOf(database, this.#clock), never),
        true,
      );
    }
    this.#moveTo(Date.parse(end));
  }

  /**
   * Accepts a load on the one database alone, and begins the release that is due first, so that it is loaded and not committed.
   * @param today an evening before which all is made that is due.
   */
  async prepare(today: string): Promise<void> {
    const { whole } = this.#databases;
    await this.#acceptOn(whole, secret, { days: 0 }, today);
    while (this.#prepared === undefined) {
      const [first] = await selectDue(whole);
      assert.ok(first);
      this.#moveTo(first.at.getTime() - preparedMs);
      const made = makeNextReleases(depsOf(whole, this.#clock), never);
      let isOver = false;
      const end = () => (isOver = true);
      void made.then(end, end);
      await until('the release waits for its instant', () => isOver || this.#clock.waiting() > 0);
      if (isOver) assert.equal((await made).result, 'failed');
      else this.#prepared = made;
    }
  }

  /** Commits the prepared release. @returns its instant. */
  async release(): Promise<Date | undefined> {
    const [first] = await selectDue(this.#databases.whole);
    const prepared = this.#prepared;
    if (prepared === undefined || first === undefined) return undefined;
    this.#prepared = undefined;
    await this.#makeAt(first.at, () => prepared, false);
    return first.at;
  }

  #moveTo(atMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, atMs);
    this.#clock.set(new Date(this.#nowMs).toISOString());
  }

  /** A release after the day is loaded into the cut database only if its vintage is of the day or earlier. */
  async #makeAt(at: Date, make: (database: Database) => Promise<Made>, byPublisher: boolean): Promise<void> {
    const { whole, cut, day } = this.#databases;
    this.#moveTo(at.getTime());
    const isBefore = byPublisher && dayOf(new Date(this.#nowMs)) <= day;
    if (isBefore) await copyLoadNumber(whole, cut);
    const made = await make(whole);
    if (isBefore) assert.deepEqual(await make(cut), made);
    else if (made.result === 'released')
      for (const { releaseNo } of made.releases) await this.#repeat(releaseNo, dayOf(at));
  }

  /** @param releasedOn the day of its instant. */
  async #repeat(releaseNo: number, releasedOn: string): Promise<void> {
    const { whole, cut, day } = this.#databases;
    const written = this.#written.get(releaseNo);
    assert.ok(written);
    const { dataset, lines, options } = written;
    if ((options?.vintage ?? releasedOn) > day) return;
    const { outcome } = await findRelease(whole, releaseNo);
    const { loads } = outcome as { loads: number[] };
    await cut.query(`select setval('data.loads_load_no_seq', $1::bigint, false)`, [loads[0]]);
    const at = new Date(this.#nowMs).toISOString();
    await loadCsv(cut, lines, { dataset, clock: fakeClock(at), today: releasedOn, ...options });
    await this.#date(cut, at);
  }
}

const depsOf = (database: Database, clock: ReleaseClock) => ({ database, clock, log: silentLog });
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** The next load of the one has the number of the next load of the other. */
export async function copyLoadNumber(from: Database, to: Database): Promise<void> {
  const [row] = await from.query<{ last: string; called: boolean }>(
    'select last_value::text as last, is_called as called from data.loads_load_no_seq',
  );
  await to.query(`select setval('data.loads_load_no_seq', $1::bigint, $2)`, [row?.last, row?.called]);
}

/** @throws any error that is not a refusal. */
export async function isRefused(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return false;
  } catch (error) {
    if (error instanceof IngestFailure || error instanceof Failure) return true;
    throw error;
  }
}
