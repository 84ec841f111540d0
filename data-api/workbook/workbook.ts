// Writes an Excel workbook (.xlsx), one at a time, in a worker thread: a large one takes a second.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** A cell: a text, a number as its digits, a day, or nothing. A text is never run as a formula. */
export type Cell = string | { digits: string } | { date: string } | null;

/** A sheet of a workbook. */
export interface Sheet {
  name: string;
  /** The first row. */
  header: readonly string[];
  /** Each row has the cells that are filled, by their column. */
  rows: readonly (readonly (readonly [column: number, cell: Cell])[])[];
  /** The widths of the first columns, in characters. */
  widths: readonly number[];
}

/** The limits of an Excel sheet. */
export const columnsMax = 16_384;

/** Enough for 100,000 cells (measured 2026-11-28). */
const threadMb = 192;
let last: Promise<unknown> = Promise.resolve();

/** The bytes of the workbook; the same sheets give the same bytes. */
export function writeWorkbook(sheets: readonly Sheet[]): Promise<Buffer> {
  const writing = last.then(() => writeNow(sheets));
  last = writing.catch(() => undefined);
  return writing;
}

async function writeNow(sheets: readonly Sheet[]): Promise<Buffer> {
  const thread = new Worker(new URL('./workbook-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: threadMb },
  });
  try {
    thread.postMessage(sheets, []);
    const [bytes] = (await once(thread, 'message')) as [Uint8Array]; // rejects with what the thread has thrown
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } finally {
    await thread.terminate();
  }
}
