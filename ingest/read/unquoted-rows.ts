// Splits rows of CSV in which no cell is quoted, which is nearly all numeric data: cut at line breaks and delimiters, a quarter of the work
// of a parser. Rows may span two chunks.
import type { CsvBatch } from './csv-batch.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export class PlainRows {
  /** The bytes after the last complete row: the beginning of the next. */
  rest: Buffer = Buffer.alloc(0);
  /** The line on which `rest` begins, counted from 1. */
  line = 1;
  /** `\n`, `\r\n` or `\r`, whichever ends the first line; null before that. */
  lineBreak: string | null = null;
  readonly #delimiter: string;
  readonly #headerLine: number;

  /** @param headerLine lines above it are ignored. */
  constructor(delimiter: string, headerLine: number) {
    this.#delimiter = delimiter;
    this.#headerLine = headerLine;
  }

  /** The rows that end in this piece, which has no quotes and ends between characters. */
  read(piece: Buffer): CsvBatch {
    const bytes = this.rest.length === 0 ? piece : Buffer.concat([this.rest, piece]);
    const batch: CsvBatch = { rows: [], lines: [] };
    this.lineBreak ??= firstLineBreak(bytes);
    let at = 0;
    if (this.lineBreak !== null) {
      const separator = this.lineBreak.length === 1 ? this.lineBreak.charCodeAt(0) : this.lineBreak;
      for (let end = bytes.indexOf(separator); end >= 0; end = bytes.indexOf(separator, at)) {
        this.#addRow(bytes.toString('utf8', at, end), batch);
        at = end + this.lineBreak.length;
      }
    }
    this.rest = bytes.subarray(at);
    return batch;
  }

  /** The last row, if no line break ends it. */
  end(): CsvBatch {
    const batch: CsvBatch = { rows: [], lines: [] };
    const text = this.rest.toString();
    // A break that might have become \r\n.
    if (text !== '') this.#addRow(this.lineBreak === null ? text.replace(/\r$/, '') : text, batch);
    return batch;
  }

  /** Cells are slices of their own line's text, so that a cached cell retains only that line in memory. */
  #addRow(text: string, batch: CsvBatch): void {
    if (this.line >= this.#headerLine) {
      batch.rows.push(text.split(this.#delimiter));
      batch.lines.push(this.line);
    }
    this.line += 1;
  }
}

/** Null if no row has certainly ended: a \r at the end may be the first half of \r\n. */
function firstLineBreak(bytes: Buffer): string | null {
  const at = bytes.findIndex((byte) => byte === lineFeed || byte === carriageReturn);
  if (at < 0) return null;
  if (bytes[at] === lineFeed) return '\n';
  if (at + 1 === bytes.length) return null;
  return bytes[at + 1] === lineFeed ? '\r\n' : '\r';
}
