// Accepts a load under embargo: stores its file and checks it by a complete dry run, in one transaction. Before its instant none of it is
// visible, and it uses no load number.
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { dateIn } from '../../../kernel/clock.ts';
import { inSavepoints, type Database, type Transaction } from '../../../kernel/database.ts';
import { IngestFailure, usageError, type DueFault } from '../../failure.ts';
import type { LoadOptions, LoadSummary } from '../../load/store/load-options.ts';
import { load, withPackage } from '../../load/load.ts';
import {
  retryAfterInterruption,
  underLoadLock,
  interruptionText,
} from '../../load/lock/give-way-to-release.ts';
import { relaxLimits } from '../../load/lock/load-lock.sql.ts';
import { acceptRelease, insertPiece, insertRelease, readPieces, selectCalendarEntry } from './embargo.sql.ts';
import { leadMsOf } from './lead-time.ts';
import { readNextLoadNo, returnLoadNumbers } from './prepared-loads.sql.ts';
import { databaseClock, type ReleaseClock } from './release-clock.ts';
import { reportOf } from '../../load/load-report.ts';
import { storePieces } from './stored-file.ts';
import { toStored } from './stored-options.ts';

/** When a release is due: at an instant, or at the instant of a calendar entry. */
export type Due = { instant: string } | { calendarId: string };

export interface Accepted {
  releaseNo: number;
  at: Date;
  /** How long before the instant the load begins. */
  leadMs: number;
  /** The changes that the release would make to the present data. */
  summary: LoadSummary;
}

/**
 * @param wish `clock`, `today` and `dryRun` are not used: the clock is that of the database, and the day that of the instant.
 * @param inSameTransaction runs at the end of the transaction: its writes are stored if and only if the release is.
 * @throws IngestFailure as `load` does, or if the instant is invalid, is past or has passed during the check; nothing is stored.
 */
export async function acceptUnderEmbargo(
  database: Database,
  wish: Omit<LoadOptions, 'clock' | 'today' | 'dryRun' | 'noGateway'>,
  due: Due,
  clock: ReleaseClock = databaseClock,
  inSameTransaction?: (on: Transaction) => Promise<void>,
): Promise<Accepted> {
  const own = 'instant' in due ? parseInstant(due.instant) : null;
  const calendarId = 'calendarId' in due ? due.calendarId : null;
  const by = own === null ? 'calendarId' : 'instant';
  const { input: given, sourceName, ...options } = withPackage({ ...wish, clock: { now: () => new Date() } });
  return database.transaction(async (on) => {
    await relaxLimits(on);
    const at = own ?? (await instantInCalendar(on, calendarId ?? ''));
    const createdAt = await clock.now(on);
    refusePast(at, createdAt, by);
    const releaseNo = await insertRelease(on, {
      ...{ at: own, calendarId, dataset: options.dataset, createdAt },
      sourceName: sourceName ?? (typeof given === 'string' ? given : '-'),
      options: toStored(options),
    });
    const file = await storePieces(bytesOf(given), (position, piece) =>
      insertPiece(on, { releaseNo }, position, piece),
    );
    const input = () => Readable.from(readPieces(on, { releaseNo }));
    const summary = await check(database, options, { input, at });
    const leadMs = leadMsOf(summary.seconds);
    const acceptedAt = await clock.now(on);
    refusePast(at, acceptedAt, by);
    await acceptRelease(on, releaseNo, { ...file, leadMs, checked: reportOf(summary), at: acceptedAt });
    await inSameTransaction?.(on);
    return { releaseNo, at, leadMs, summary };
  });
}

/** Parses an instant with an offset; undefined if the text is not one. */
export function instantOf(text: string): Date | undefined {
  const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:?\d\d)$/i;
  if (!form.test(text)) return undefined;
  try {
    const instant = new Date(Temporal.Instant.from(text).epochMilliseconds);
    return instant.getUTCFullYear() > 9999 ? undefined : instant; // such as 9999-12-31T23:00:00-05:00
  } catch (error) {
    if (error instanceof RangeError) return undefined; // for example, 30 February
    throw error;
  }
}

export const anInstant =
  'an instant with its offset, such as 2026-12-16T10:00:00Z or 2026-12-16T15:00:00+05:00';

const parseInstant = (text: string): Date =>
  instantOf(text) ?? usageError(`--release-at ${text}: must be ${anInstant}.`);

async function instantInCalendar(on: Transaction, calendarId: string): Promise<Date> {
  const { at, held } = await selectCalendarEntry(on, calendarId);
  if (at !== null && held === null) return at;
  const expected = 'the release_id of a calendar entry that has a time and is neither cancelled nor delayed';
  throw new IngestFailure('usage', `--release-with ${calendarId}: ${held}. Allowed: ${expected}.`, {
    due: { by: 'calendarId', reason: `must be ${expected}; "${calendarId}": ${held}` },
  });
}

function refusePast(at: Date, now: Date, by: DueFault['by']): void {
  if (at > now) return;
  const past = `${at.toISOString()} is past (it is ${now.toISOString()} by the clock of the database)`;
  throw new IngestFailure('usage', `${past}: load the file without embargo.`, {
    due: { by, reason: `${past}. Leave it out to publish now` },
  });
}

async function* bytesOf(input: Readable | string): AsyncGenerator<Buffer> {
  const stream = typeof input === 'string' ? createReadStream(input) : input;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer | string>)
      yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } catch (error) {
    if (typeof input !== 'string') throw error;
    throw new IngestFailure('invalid_file', `The file ${input} cannot be read.`, { cause: error });
  }
}

/** A dry run as of the instant, on its own connection, that returns its load numbers afterwards. */
function check(
  database: Database,
  options: Omit<LoadOptions, 'clock' | 'input'>,
  { input, at }: { input: () => Readable; at: Date },
): Promise<LoadSummary> {
  return retryAfterInterruption(database, options, (interruptions, onWaiting) =>
    underLoadLock(database, { onWaiting }, async (on) => {
      const loadNo = await readNextLoadNo(on);
      try {
        const summary = await load(inSavepoints(on), {
          ...{ ...options, input: input() },
          ...{ dryRun: true, clock: { now: () => at }, today: dateIn(options.seriesTimeZone, at) },
        });
        const notes = [...interruptions.map(interruptionText), ...summary.notes];
        return { ...summary, notes, interruptions };
      } finally {
        await returnLoadNumbers(on, loadNo);
      }
    }),
  );
}
