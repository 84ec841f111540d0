// Processes one file of the watched folder: claims it, plans and loads it as almanac publish does, and moves it to `done/` or `rejected/`.
// All of it is one transaction under the lock: a process that is killed has loaded the file or not, and the next one continues from there.
import { inSavepoints, type Database, type Transaction } from '../../../kernel/database.ts';
import { clockFrom, onOneDay, type Clock, type DatedWork } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log/log.ts';
import { tableEnding, tableEndings } from '../../read/file-kind.ts';
import { IngestFailure } from '../../failure.ts';
import {
  runInterruptible,
  retryAfterInterruption,
  type Interruption,
} from '../../load/lock/give-way-to-release.ts';
import { relaxLimits } from '../../load/lock/load-lock.sql.ts';
import { addEntries, emptyDescription, readDescription } from '../../entry/entry-file.ts';
import { removeLeftDrafts, writeDescription } from '../../entry/write-entry-file.ts';
import { entriesFor } from '../../entry/entries-for.ts';
import { loadTableFile, type LoadedTable } from '../../plan/load-table-file.ts';
import { planMovedFile, type Plan } from '../../plan/plan.ts';
import type { TaskContext } from '../child-process/task.ts';
import { isTemporary } from '../releases/temporary-faults.ts';
import { dropStage } from '../releases/prepared-loads.sql.ts';
import { databaseClock, type ReleaseClock } from '../releases/release-clock.ts';
import {
  countAttempt,
  inspect,
  isGone,
  isUnchanged,
  listClaimed,
  moveToDone,
  moveToRejected,
  NotNow,
  claimFile,
  type ClaimedFile,
  type WaitingFile,
} from './folder.ts';
import { tryLockInbox } from './inbox.sql.ts';
import { internalFault, refusal, reportText, unconfirmed, type Rejection } from './rejection-report.ts';

export interface InboxDeps {
  database: Database;
  clock: ReleaseClock;
  log: Log;
  /** INBOX_DIR, absolute. */
  directory: string;
  seriesTimeZone: string;
}

/** The ids of the files that a process of a publisher has begun to read. */
export interface StartedFiles {
  has(id: string): boolean;
  add(id: string): void;
}

/** `unchanged`: it was loaded before. `left out`: by almanac.yml. */
export type DoneAs = 'loaded' | 'unchanged' | 'left out';

/** `busy`: another publisher is processing files. `gone`: the file is gone or has changed. */
export type Outcome =
  | { result: 'busy' | 'gone' }
  | {
      result: DoneAs;
      movedTo: string | null;
      tables: LoadedTable[];
      interruptions: readonly Interruption[];
    }
  | { result: 'rejected'; movedTo: string | null; reason: string };

export interface FileOfInbox {
  file: WaitingFile | ClaimedFile;
  /** The publisher has begun to read it before. */
  isStarted: boolean;
  settings: Pick<InboxDeps, 'directory' | 'seriesTimeZone'>;
}

/** `later`: after NotNow. */
export type InboxAnswer = Outcome | { result: 'later'; reason: string };

export interface InboxTasks {
  'inbox-file': { given: FileOfInbox; answer: InboxAnswer; event: { started: string } };
}

/** A file is rejected once this many processes have crashed while reading it. */
export const attemptsMax = 3;

/** Thrown to roll back what was stored of a file. */
class Rejected extends Error {
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    super(rejection.reason);
    this.rejection = rejection;
  }
}

/** The task. */
export async function workHere(
  { database, log, emit }: TaskContext,
  { file, isStarted, settings }: FileOfInbox,
): Promise<InboxAnswer> {
  const ids = new Set(isStarted && 'id' in file ? [file.id] : []);
  const started = {
    has: (id: string) => ids.has(id),
    add(id: string) {
      ids.add(id);
      emit({ started: id });
    },
  };
  try {
    return await workOn({ database, clock: databaseClock, log, ...settings }, file, started);
  } catch (error) {
    if (error instanceof NotNow) return { result: 'later', reason: error.message };
    throw error;
  }
}

/**
 * @param started the files that this process has begun to read; extended here.
 * @throws NotNow, or Error if the database or the disk fails: nothing is stored then, and a retry is safe.
 */
export async function workOn(
  deps: InboxDeps,
  file: WaitingFile | ClaimedFile,
  started: StartedFiles,
): Promise<Outcome> {
  const { database, directory } = deps;
  let known = file;
  const worked = await retryAfterInterruption(database, {}, async (interruptions) => {
    // Another publisher may have processed it meanwhile.
    if (interruptions.length > 0) known = (await findClaimedAgain(directory, known)) ?? known;
    const outcome = await runInterruptible(database, false, (on) =>
      attempt(deps, on, { file: known, started, onClaimed: (claimed) => void (known = claimed) }),
    );
    return 'claimed' in outcome ? { ...outcome, interruptions } : outcome;
  });
  if (!('claimed' in worked)) return worked;
  // After the commit: if this process is killed now, the next one finds the file loaded.
  const { result, tables, claimed, at, interruptions } = worked;
  return { result, tables, interruptions, movedTo: await moveToDone(directory, claimed, at) };
}

async function findClaimedAgain(
  directory: string,
  known: WaitingFile | ClaimedFile,
): Promise<ClaimedFile | undefined> {
  if (!('id' in known)) return undefined;
  return (await listClaimed(directory)).find(({ id }) => id === known.id);
}

interface Given {
  file: WaitingFile | ClaimedFile;
  started: StartedFiles;
  onClaimed: (claimed: ClaimedFile) => void;
}

/** One transaction, which a release may interrupt. */
async function attempt(
  deps: InboxDeps,
  on: Transaction,
  { file, started, onClaimed }: Given,
): Promise<Outcome | Loaded> {
  const { clock, directory } = deps;
  if (!(await tryLockInbox(on))) return { result: 'busy' };
  await relaxLimits(on);
  const at = await clock.now(on);
  const found = 'claimedAt' in file ? file : await claimFile(directory, file, at);
  if (found === null) return { result: 'gone' };
  onClaimed(found);
  const claimed = started.has(found.id) ? found : await countAttempt(directory, found);
  if (claimed === null) return { result: 'gone' };
  started.add(found.id);
  onClaimed(claimed);
  try {
    const [clock, { seriesTimeZone }] = [clockFrom(at), deps];
    const { result, tables } = await onOneDay({ clock, seriesTimeZone }, (dated) =>
      inSavepoints(on).transaction(() => loadClaimed(deps, on, claimed, { clock, dated })),
    );
    return { result, tables, claimed, at };
  } catch (error) {
    if (await isGone(claimed.file)) {
      deps.log.info(
        { event: 'inbox_gone', file: claimed.name, err: error },
        'A file of INBOX_DIR is gone: another publisher has moved it, or somebody has deleted it',
      );
      return { result: 'gone' };
    }
    const rejection = rejectionOf(error, claimed);
    if (rejection === null) throw error;
    // The lock is still held, unless the connection broke: then the error may be due to that, and another publisher may be processing the
    // file.
    await tryLockInbox(on);
    if (!(error instanceof Rejected) && !(error instanceof IngestFailure))
      deps.log.error(
        { event: 'inbox_fault', file: claimed.name, err: error },
        'A file of INBOX_DIR cannot be loaded',
      );
    const report = (name: string) => reportText(rejection, { claimed, name, directory, at });
    const movedTo = await moveToRejected(directory, claimed, at, report);
    return { result: 'rejected', movedTo, reason: rejection.reason };
  }
}

interface Loaded {
  result: DoneAs;
  tables: LoadedTable[];
  claimed: ClaimedFile;
  at: Date;
}

function rejectionOf(error: unknown, claimed: ClaimedFile): Rejection | null {
  if (error instanceof Rejected) return error.rejection;
  if (error instanceof IngestFailure) return refusal(error, claimed);
  return error instanceof NotNow || isTemporary(error) || isOfSystem(error) ? null : internalFault(error);
}

/** For example, the disk is full or missing. */
const isOfSystem = (error: unknown): boolean => error instanceof Error && 'syscall' in error;

/** @throws Rejected, or IngestFailure, if the file is at fault. */
async function loadClaimed(
  deps: InboxDeps,
  on: Transaction,
  claimed: ClaimedFile,
  { clock, dated }: { clock: Clock; dated: DatedWork },
): Promise<Pick<Loaded, 'result' | 'tables'>> {
  if (!tableEnding.test(claimed.name))
    throw new IngestFailure(
      'invalid_file',
      `The extension of its name must be one of ${tableEndings.join(', ')}.`,
    );
  if (claimed.attempts > attemptsMax)
    throw new Rejected({
      reason: `${attemptsMax} processes that read it exited, probably out of memory.`,
      detail:
        'Split it into smaller files, save the sheets of a workbook as CSV, or give the publisher more memory.',
    });
  const content = await inspect(claimed.file);
  const plan = await planFor(deps, on, claimed, content.sha256, dated.begin());
  const tables = await loadTables(deps, on, plan, clock);
  if (!(await isUnchanged(claimed.file, content)))
    throw new NotNow(`${claimed.name} was written to while it was read`);
  if (tables.length > 0) dated.end();
  saveNewEntries(plan, claimed.name);
  const isLeftOut = plan.tables.every(({ state }) => state === 'skipped');
  return { result: tables.length > 0 ? 'loaded' : isLeftOut ? 'left out' : 'unchanged', tables };
}

/** @throws Rejected if the file cannot be read, or a part of its entry is only guessed. */
async function planFor(
  { directory }: InboxDeps,
  on: Transaction,
  claimed: ClaimedFile,
  sha256: string,
  today: string,
): Promise<Plan> {
  const source = { path: claimed.name, file: claimed.file, sha256 };
  const plan = await planMovedFile(on, directory, source, { facts: {}, again: false, today }).catch(
    // The plan reports faults of the file itself; this is a fault of almanac.yml, which was valid when the folder was listed.
    (error: unknown) => {
      throw error instanceof IngestFailure ? new NotNow(error.message) : error;
    },
  );
  const [unreadable] = plan.unreadable;
  if (unreadable !== undefined) throw new IngestFailure('invalid_file', unreadable.reason);
  const guessed = plan.tables.filter(
    ({ isGuessed, state }) => state === 'no table' || (isGuessed && state !== 'unchanged'),
  );
  if (guessed.length > 0) throw new Rejected(unconfirmed(plan, guessed));
  return plan;
}

/** Loads the planned tables, all or none. */
async function loadTables(
  { seriesTimeZone, log }: InboxDeps,
  on: Transaction,
  plan: Plan,
  clock: Clock,
): Promise<LoadedTable[]> {
  const loaded: LoadedTable[] = [];
  for (const table of plan.tables) {
    if (table.state === 'unchanged' || table.state === 'skipped') continue;
    loaded.push(
      await loadTableFile(inSavepoints(on), table, {
        ...{ seriesTimeZone, dryRun: false, publication: plan.description.description.name },
        clock,
        onWaiting: () =>
          log.info(
            { event: 'inbox_waits', file: table.path },
            'Another load is running; the file waits for it',
          ),
      }),
    );
    await dropStage(on);
  }
  return loaded;
}

/** Adds the entries that were found, which are all certain, to the present almanac.yml, which may have been edited during the load. */
function saveNewEntries(plan: Plan, name: string): void {
  if (plan.newEntries.length === 0) return;
  const { descriptionPath } = plan;
  const present = readDescription(descriptionPath) ?? emptyDescription(plan.description.description.name);
  const described = new Set(entriesFor(name, present.description.tables).map(({ sheet }) => sheet));
  const lacking = plan.newEntries.filter(({ entry }) => !described.has(entry.sheet));
  if (lacking.length === 0) return;
  removeLeftDrafts(descriptionPath);
  addEntries(present, lacking);
  writeDescription(descriptionPath, present);
}
