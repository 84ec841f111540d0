// The clock, as a dependency: services are passed one, and tests pass one that they can set.
import { setTimeout as pause } from 'node:timers/promises';

export interface Clock {
  now(): Date;
  /** Whether this is PostgreSQL's clock, which may differ from this machine's. */
  readonly isDatabases?: boolean;
}

export const systemClock: Clock = { now: () => new Date() };

// Creating one takes 100 µs, using it 1 µs (measured 2026-11-20).
const formats = new Map<string, Intl.DateTimeFormat>();

/** The calendar date in a time zone, `YYYY-MM-DD`. @param timeZone an IANA name, such as `Asia/Karachi`. */
export function dateIn(timeZone: string, instant: Date): string {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
    formats.set(timeZone, format);
  }
  return format.format(instant);
}

/** The instant at which the calendar date of `dateIn` changes next. */
export function nextDayIn(timeZone: string, instant: Date): Date {
  const here = Temporal.Instant.fromEpochMilliseconds(instant.getTime()).toZonedDateTimeISO(timeZone);
  return new Date(here.add({ days: 1 }).startOfDay().epochMilliseconds);
}

/** A clock that runs on from an instant, such as one read from the database's clock. */
export function clockFrom(instant: Date): Clock {
  const started = performance.now();
  return { now: () => new Date(instant.getTime() + performance.now() - started) };
}

/** How long before the end of a day its work must end: a commit takes time, gateways answer from memory for half a second, and clocks differ. */
const dayMarginMs = 5_000;

class DayEnds extends Error {
  readonly endsAt: Date;

  constructor(endsAt: Date) {
    super('the day by which the work is dated ends');
    this.endsAt = endsAt;
  }
}

/** Work dated by the day on which it is committed. */
export class DatedWork {
  readonly #clock: Clock;
  readonly #timeZone: string;
  /** `YYYY-MM-DD`, after `begin`. */
  day = '';
  readonly #createdOn: string;
  #endsAt: Date | undefined;

  constructor(clock: Clock, timeZone: string) {
    this.#clock = clock;
    this.#timeZone = timeZone;
    this.#createdOn = dateIn(timeZone, clock.now());
  }

  /**
   * Call this after the last wait. @returns the day. @throws if the wait has outlasted the day: what the transaction creates would have its beginning
   * as its instant; `onOneDay` catches it.
   */
  begin(): string {
    const now = this.#clock.now();
    this.#endsAt = nextDayIn(this.#timeZone, now);
    this.day = dateIn(this.#timeZone, now);
    if (this.day !== this.#createdOn) throw new DayEnds(now);
    return this.day;
  }

  /** Whether the day has ended, or is about to. */
  get isOver(): boolean {
    return this.#endsAt !== undefined && this.#clock.now().getTime() + dayMarginMs > this.#endsAt.getTime();
  }

  /** Call this last, before the commit. @throws if the day is over; `onOneDay` catches it. */
  end(): void {
    if (this.#endsAt !== undefined && this.isOver) throw new DayEnds(this.#endsAt);
  }
}

/**
 * Does work in a transaction that is dated by the day of its commit, so that what a day shows never changes after its end. If the day ends meanwhile,
 * the work is rolled back and repeated for the next day.
 */
export async function onOneDay<Result>(
  { clock, seriesTimeZone }: { clock: Clock; seriesTimeZone: string },
  work: (dated: DatedWork) => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await work(new DatedWork(clock, seriesTimeZone));
    } catch (error) {
      if (!(error instanceof DayEnds)) throw error;
      await pause(Math.max(0, error.endsAt.getTime() - clock.now().getTime()));
    }
  }
}

/** An instant as sent in answers: ISO 8601, UTC, to the second. */
export function instantText(instant: Date): string {
  return `${instant.toISOString().slice(0, -5)}Z`;
}

/**
 * Whether the name is UTC, or an IANA time zone with a place, which Node and PostgreSQL read alike. In PostgreSQL the offset +05:00 is west of
 * Greenwich, and abbreviations are ambiguous: IST is in India to Node, in Israel to PostgreSQL.
 */
export function isTimeZone(name: string): boolean {
  if (name !== 'UTC' && !/^[A-Za-z].*\//.test(name)) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

const dayMs = 86_400_000;
let lastDay = Number.NaN;
let lastDate = '';
let lastMonth = '';
let lastNextMonth = '';

/** The UTC calendar date of an instant, `YYYY-MM-DD`. Cached for a day, as gateways need it on every call. */
export function utcDate(instant: Date): string {
  const day = Math.floor(instant.getTime() / dayMs);
  if (day !== lastDay) {
    lastDay = day;
    lastDate = instant.toISOString().slice(0, 10);
    lastMonth = `${lastDate.slice(0, 7)}-01`;
    lastNextMonth = instantText(nextUtcMonth(instant));
  }
  return lastDate;
}

/** The first day of an instant's UTC calendar month, `YYYY-MM-01`: the quota month. */
export function utcMonth(instant: Date): string {
  utcDate(instant);
  return lastMonth;
}

/** The start of the next UTC calendar month, when quotas reset. */
export function nextUtcMonth(instant: Date): Date {
  return new Date(Date.UTC(instant.getUTCFullYear(), instant.getUTCMonth() + 1, 1));
}

/** The start of the next UTC calendar month, in the format of answers. */
export function nextUtcMonthText(instant: Date): string {
  utcDate(instant);
  return lastNextMonth;
}
