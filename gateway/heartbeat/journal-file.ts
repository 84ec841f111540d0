// Stores the journal's unsent batches in files, so that a killed gateway reports what it served when it is started again.
// Hides the format: one file per batch, to which each turn of the event loop appends a line for all of
// its calls that can be counted together.
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import type { Log } from '../../kernel/log/log.ts';
import {
  addCounts,
  addSpent,
  entrySchema,
  isSameBlock,
  isSameUsage,
  type Entry,
  type SpentEntry,
} from './journal-batch.ts';

/** A batch that an earlier process of the gateway left unreported. */
export interface LeftBatch {
  id: string;
  entries: Entry[];
}

export interface JournalFile {
  /** The batches found when the directory was opened. */
  readonly left: readonly LeftBatch[];
  /** The lives of earlier processes, which hold calls until accounts-api hears that they have ended. */
  readonly leftLives: readonly string[];
  /** Notes that a life has begun: its successor can end it. */
  beginLife(life: string): void;
  /** Forgets a life that accounts-api has ended. */
  forgetLife(life: string): void;
  /** Appends an entry of a batch; it survives a kill after the current turn of the event loop. */
  append(batchId: string, entry: Entry): void;
  /** Deletes a batch that accounts-api has received. */
  forget(batchId: string): void;
  /** Writes what is buffered, and closes the files. */
  close(): void;
}

const batchEnding = '.jsonl';
const lifeEnding = '.life';

/** Whether a file of this name is part of a journal. */
export function isJournalFile(name: string): boolean {
  return name.endsWith(batchEnding) || name.endsWith(lifeEnding);
}

/**
 * Opens a directory that only this gateway uses, and creates it if it is missing.
 * @param append writes text to a file. @returns how many bytes were written.
 * @throws Error if it cannot be created or read, or has files that no journal wrote.
 */
export function openJournalFile(
  directory: string,
  log: Log,
  append: (descriptor: number, text: string) => number = writeSync,
): JournalFile {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const fileOf = (batchId: string) => path.join(directory, batchId + batchEnding);
  const lifeFileOf = (life: string) => path.join(directory, life + lifeEnding);
  const names = readdirSync(directory);
  let batchId = '';
  let descriptor: number | undefined;
  let lines = '';
  // Combined entries of this turn's calls; their lines are not made yet.
  let usage: Extract<Entry, { of: 'usage' }> | undefined;
  let spent: SpentEntry | undefined;
  let turn: NodeJS.Immediate | undefined;

  /** If writing fails, calls are still served: the entries are in memory, and are sent from there. */
  function unlessBroken(work: () => void): void {
    try {
      work();
    } catch (error) {
      log.error(
        { err: error, directory },
        'The journal cannot be kept in its files: a kill would lose usage',
      );
    }
  }

  function addLine(entry: Entry): void {
    lines += `${JSON.stringify(entry)}\n`;
  }

  function endUsage(): void {
    if (usage !== undefined) addLine(usage);
    usage = undefined;
  }

  function endSpent(): void {
    if (spent !== undefined) addLine(spent);
    spent = undefined;
  }

  function write(): void {
    clearImmediate(turn);
    turn = undefined;
    endUsage();
    endSpent();
    if (lines === '') return;
    unlessBroken(() => {
      descriptor ??= openSync(fileOf(batchId), 'a', 0o600);
      appendWhole(descriptor, lines, append);
    });
    lines = '';
  }

  function close(): void {
    write();
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  }

  return {
    leftLives: names
      .filter((name) => name.endsWith(lifeEnding))
      .map((name) => path.basename(name, lifeEnding)),
    beginLife: (life) => unlessBroken(() => writeFileSync(lifeFileOf(life), '', { mode: 0o600 })),
    forgetLife: (life) => unlessBroken(() => rmSync(lifeFileOf(life), { force: true })),
    left: names
      .filter((name) => name.endsWith(batchEnding))
      .map((name) => ({
        id: path.basename(name, batchEnding),
        entries: readEntries(path.join(directory, name), log),
      })),
    append(id, entry) {
      if (id !== batchId) {
        close();
        batchId = id;
      }
      if (entry.of === 'spent') {
        if (spent !== undefined && isSameBlock(spent, entry)) addSpent(spent, entry);
        else {
          endSpent();
          spent = { ...entry };
        }
      } else if (entry.of !== 'usage') addLine(entry);
      else if (usage !== undefined && isSameUsage(usage, entry)) addCounts(usage, entry);
      else {
        endUsage();
        usage = { ...entry };
      }
      turn ??= setImmediate(write); // one write for all calls of a turn
    },
    forget(id) {
      if (id === batchId) close();
      unlessBroken(() => rmSync(fileOf(id), { force: true }));
    },
    close,
  };
}

/** Appends all of it or nothing: the next line would join one that was cut off. */
function appendWhole(
  descriptor: number,
  text: string,
  append: (descriptor: number, text: string) => number,
): void {
  const written = append(descriptor, text);
  if (written === Buffer.byteLength(text)) return;
  ftruncateSync(descriptor, fstatSync(descriptor).size - written);
  throw new Error('Only a part of the lines could be written.');
}

function readEntries(file: string, log: Log): Entry[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const cut = lines.pop();
  if (cut !== '') log.warn({ file }, 'The last line of the journal was cut off and is left out');
  return lines.map((line, i) => {
    try {
      return entrySchema.parse(JSON.parse(line));
    } catch (error) {
      throw new Error(
        `Line ${i + 1} of ${file} is no entry of a journal: repair the file, or move it away.`,
        {
          cause: error,
        },
      );
    }
  });
}
