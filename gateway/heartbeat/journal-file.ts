// Stores the journal's unsent batches in files, so that a killed gateway reports its served calls at its next start. One file per batch, one line per
// entry.
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
import { Batch, entrySchema, type Entry } from './journal-batch.ts';

export type JournalFile = ReturnType<typeof openJournalFile>;

const batchEnding = '.jsonl';
const lifeEnding = '.life';

/** Whether a file of this name is part of a journal. */
export function isJournalFile(name: string): boolean {
  return name.endsWith(batchEnding) || name.endsWith(lifeEnding);
}

/**
 * Opens a directory that only this gateway uses; creates it if it is missing.
 * @param append writes text to a file and returns how many bytes were written.
 * @throws Error if it cannot be created or read, or contains files that no journal wrote.
 */
export function openJournalFile(
  directory: string,
  log: Log,
  append: (descriptor: number, text: string) => number = writeSync,
) {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const fileOf = (batchId: string) => path.join(directory, batchId + batchEnding);
  const lifeFileOf = (life: string) => path.join(directory, life + lifeEnding);
  const names = readdirSync(directory);
  const leftOf = (ending: string) =>
    names.filter((name) => name.endsWith(ending)).map((name) => path.basename(name, ending));
  let open: { batchId: string; descriptor: number } | undefined;

  /** If writing fails, calls are still served: the entries are also in memory and are sent from there. */
  function logFailure(work: () => void): void {
    try {
      work();
    } catch (error) {
      log.error(
        { err: error, directory },
        'The journal cannot be written to its files: if this process is killed, unreported usage is lost',
      );
    }
  }

  function close(): void {
    const closing = open;
    open = undefined;
    if (closing !== undefined) closeSync(closing.descriptor);
  }

  return {
    /** The lives of earlier processes, which keep their calls until accounts-api receives their end. */
    leftLives: leftOf(lifeEnding),
    /** Records that a life has begun, so that the next process can end it. */
    beginLife: (life: string) => logFailure(() => writeFileSync(lifeFileOf(life), '', { mode: 0o600 })),
    /** Deletes the record of a life that accounts-api has ended. */
    forgetLife: (life: string) => logFailure(() => rmSync(lifeFileOf(life), { force: true })),
    /** The batches that earlier processes of the gateway left unreported. */
    left: leftOf(batchEnding).map((id) => readBatch(id, fileOf(id), log)),
    /** Appends entries to a batch; they then survive a kill. */
    append: (batchId: string, entries: readonly Entry[]) =>
      logFailure(() => {
        if (open?.batchId !== batchId) close();
        open ??= { batchId, descriptor: openSync(fileOf(batchId), 'a', 0o600) };
        let lines = '';
        for (const entry of entries) lines += `${JSON.stringify(entry)}\n`;
        appendWhole(open.descriptor, lines, append);
      }),
    /** Deletes a batch that accounts-api has received. */
    forget: (batchId: string) =>
      logFailure(() => {
        if (open?.batchId === batchId) close();
        rmSync(fileOf(batchId), { force: true });
      }),
    /** Closes the file of the last batch. */
    close: () => logFailure(close),
  };
}

/** Appends all of the text or nothing: otherwise the next line would be joined to a truncated one. */
function appendWhole(
  descriptor: number,
  text: string,
  append: (descriptor: number, text: string) => number,
): void {
  const written = append(descriptor, text);
  if (written === Buffer.byteLength(text)) return;
  ftruncateSync(descriptor, fstatSync(descriptor).size - written);
  throw new Error('The lines could be written only in part.');
}

function readBatch(id: string, file: string, log: Log): Batch {
  const batch = new Batch(id);
  const lines = readFileSync(file, 'utf8').split('\n');
  const cut = lines.pop();
  if (cut !== '') log.warn({ file }, 'The last line of the journal was truncated and is skipped');
  for (const [i, line] of lines.entries()) {
    try {
      batch.add(entrySchema.parse(JSON.parse(line)));
    } catch (error) {
      const message = `Line ${i + 1} of ${file} is not a journal entry: repair the file, or move it elsewhere.`;
      throw new Error(message, { cause: error });
    }
  }
  return batch;
}
