// Reads a CSV file, plain or gzipped, or a stream, as batches of rows with their line numbers. Handles gzip, byte order marks, encodings,
// the delimiter and quoted line breaks. Memory is one batch, whatever the file size.
import { isUtf8 } from 'node:buffer';
import { createReadStream, statSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { CsvError, Parser } from 'csv-parse';
import { IngestFailure } from '../failure.ts';
import type { CsvBatch } from './csv-batch.ts';
import { detectDialect, type Dialect } from './csv-dialect.ts';
import { completeCharacters, decoderOf, detectEncoding, knownEncoding } from './encodings.ts';
import { examinedBytes, kindOf } from './file-kind.ts';
import { PlainRows } from './unquoted-rows.ts';

export interface CsvOptions {
  /** `,` `;` `|` or a tab; default: the one that splits the most lines at the beginning into equally many cells. */
  delimiter?: string;
  /** The quote character around cells with the delimiter; default: detected like the delimiter. */
  quote?: '"' | "'";
  /** `utf-8`, `utf-16le`, `utf-16be`, `windows-1252` (latin-1); default: by the byte order mark and the first 64 KB. */
  encoding?: string;
  /** The line with the column names, counted from 1; lines above it are ignored. */
  headerLine?: number;
  /** The maximum unpacked size of a gzip file; default: no limit. */
  unpackedBytesMax?: number;
  /** Called after every piece of the file; bytes are those of the file as stored (possibly compressed). */
  onBytes?: (bytesRead: number, bytesTotal: number | undefined) => void;
}

const pieceBytes = 256 * 1024;
const rowBytesMax = 4 * 1024 * 1024;
/** Of the beginning, from which the dialect is found. */
export const dialectBytes = 64 * 1024;

/**
 * The rows of the input in batches; the first row of the first batch is the header.
 * @param input a path, or a stream of bytes.
 * @throws IngestFailure if the input is missing, damaged, or not text in its encoding.
 */
export async function* readCsv(input: Readable | string, options: CsvOptions): AsyncGenerator<CsvBatch> {
  const pieces = readPieces(input, options);
  const first = await pieces.next();
  if (first.done === true) throw new IngestFailure('invalid_file', 'The file is empty.');
  const headerLine = options.headerLine ?? 1;
  const dialect = detectDialect(first.value.subarray(0, dialectBytes).toString());
  const { delimiter = dialect.delimiter, quote = dialect.quote } = options;
  const quoteByte = quote.charCodeAt(0);
  const plain = new PlainRows(delimiter, headerLine);
  let parser: BatchParser | null = null; // used from the first quote on
  try {
    for await (const piece of concatenate(withoutMark(first.value), pieces)) {
      if (parser !== null) yield await parser.parse(piece);
      else if (piece.includes(quoteByte)) {
        parser = new BatchParser({ ...dialect, delimiter, quote }, headerLine, plain);
        yield await parser.parse(Buffer.concat([plain.rest, piece]));
      } else {
        yield plain.read(piece);
        if (plain.rest.length > rowBytesMax) throw tooLong(plain.line);
      }
    }
    yield parser === null ? plain.end() : await parser.end();
  } finally {
    parser?.destroy();
  }
}

/** Removes byte order marks. There may be several: programs that join files, or save a file twice, write more than one. */
function withoutMark(start: Buffer): Buffer {
  const hasMark = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf;
  return hasMark ? withoutMark(start.subarray(3)) : start;
}

function tooLong(line: number): IngestFailure {
  return notCsv(line, `a row is longer than ${rowBytesMax / 1024 / 1024} MB: is a quote left open?`);
}

function notCsv(line: number, reason: string, cause?: unknown): IngestFailure {
  return new IngestFailure('invalid_file', `The file is not valid CSV at line ${line}: ${reason}.`, {
    cause,
  });
}

/** The first bytes of a file, unpacked, in its own encoding. @throws IngestFailure if it is missing or damaged. */
export async function firstBytes(file: string, count: number): Promise<Buffer> {
  const pieces = unpacked(open(file, {}), {});
  try {
    return (await gather(pieces, count)).subarray(0, count);
  } finally {
    await pieces.return(undefined);
  }
}

/** The input in UTF-8, in pieces that end between characters. @throws IngestFailure as `readCsv` does. */
export function readPieces(input: Readable | string, options: CsvOptions): AsyncGenerator<Buffer> {
  return decoded(unpacked(open(input, options), options), options.encoding);
}

/** Feeds csv-parse piece by piece and reads rows as it finds them, without a stream of objects in between. */
class BatchParser {
  readonly #parser: Parser;
  readonly #ended: Promise<void>;
  #batch: CsvBatch = { rows: [], lines: [] };
  #nextLine: number;
  #parserLine: number;

  /** @param before has read the input up to where this parser starts. */
  constructor({ delimiter, quote, hasBlanks }: Dialect, headerLine: number, before: PlainRows) {
    const firstLine = Math.max(1, headerLine - before.line + 1); // within the parser's input
    this.#nextLine = before.line - 1 + firstLine;
    this.#parserLine = firstLine - 1;
    this.#parser = new Parser({
      delimiter,
      quote,
      ltrim: hasBlanks,
      from_line: firstLine,
      ...(before.lineBreak === null ? {} : { record_delimiter: before.lineBreak }),
      relax_column_count: true,
      max_record_size: rowBytesMax,
      on_record: (row: string[], info) => {
        this.#take(row, info.lines);
        return null;
      },
    });
    this.#parser.resume();
    this.#ended = new Promise((resolve, reject) => {
      this.#parser.once('end', resolve);
      this.#parser.once('error', reject);
    });
    this.#ended.catch(() => undefined); // write() reports the same error first, except in end()
  }

  #take(row: string[], parserLine: number): void {
    this.#batch.rows.push(row);
    this.#batch.lines.push(this.#nextLine);
    // The parser counts a quoted CRLF as two lines; most rows have none, and need no counting.
    const breaks = parserLine - this.#parserLine === 1 ? 0 : row.join('').replaceAll('\r\n', '\n');
    this.#nextLine += breaks === 0 ? 1 : 1 + (breaks.match(/[\r\n]/g)?.length ?? 0);
    this.#parserLine = parserLine;
  }

  async parse(piece: Buffer): Promise<CsvBatch> {
    await new Promise<void>((resolve, reject) => {
      this.#parser.write(piece, (error) =>
        error === null || error === undefined ? resolve() : reject(this.#explain(error)),
      );
    });
    return this.#takeBatch();
  }

  async end(): Promise<CsvBatch> {
    this.#parser.end();
    try {
      await this.#ended;
    } catch (error) {
      throw this.#explain(error);
    }
    return this.#takeBatch();
  }

  destroy(): void {
    this.#parser.destroy();
  }

  #takeBatch(): CsvBatch {
    const batch = this.#batch;
    this.#batch = { rows: [], lines: [] };
    return batch;
  }

  #explain(error: unknown): unknown {
    if (!(error instanceof CsvError)) return error;
    if (error.code === 'CSV_MAX_RECORD_SIZE') return tooLong(this.#nextLine);
    const reasons: Partial<Record<string, string>> = {
      CSV_QUOTE_NOT_CLOSED: 'a quoted cell begins here and never ends',
      INVALID_OPENING_QUOTE:
        'a quote is inside a cell that is not quoted (write the cell as "a ""quoted"" word")',
      CSV_INVALID_CLOSING_QUOTE: 'text follows the closing quote of a cell (a quote within is written twice)',
    };
    return notCsv(this.#nextLine, reasons[error.code] ?? error.message, error);
  }
}

/** The bytes of the input; reports progress. */
async function* open(input: Readable | string, options: CsvOptions): AsyncGenerator<Buffer> {
  let total: number | undefined;
  let stream: Readable;
  if (typeof input !== 'string') stream = input;
  else {
    try {
      total = statSync(input).size;
    } catch (error) {
      throw new IngestFailure('invalid_file', `The file ${input} cannot be read.`, { cause: error });
    }
    stream = createReadStream(input, { highWaterMark: pieceBytes });
  }
  let read = 0;
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    const piece = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    read += piece.length;
    options.onBytes?.(read, total);
    yield piece;
  }
}

/** Unpacks gzip, recognised by its first two bytes, not by the file name. */
async function* unpacked(
  pieces: AsyncGenerator<Buffer>,
  { encoding, unpackedBytesMax: bytesMax = Infinity }: CsvOptions,
): AsyncGenerator<Buffer> {
  const start = await gather(pieces, examinedBytes);
  if (start.length === 0) return;
  if (kindOf(start, { encoding }) === 'workbook')
    throw new IngestFailure('invalid_file', 'The file is a workbook, not text: save it as CSV.');
  const whole = concatenate(start, pieces);
  if (start[0] !== 0x1f || start[1] !== 0x8b) {
    yield* whole;
    return;
  }
  const gunzip = createGunzip({ chunkSize: pieceBytes });
  // Errors reach the loop below through gunzip, which pipeline destroys with them.
  pipeline(Readable.from(whole), gunzip, () => undefined);
  let bytes = 0;
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > bytesMax)
        throw new IngestFailure(
          'invalid_file',
          `Unpacked, the gzip file is larger than ${bytesMax / 1024 / 1024} MB. Split it.`,
        );
      yield piece;
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (!code.startsWith('Z_')) throw error;
    throw new IngestFailure(
      'invalid_file',
      'The gzip file is damaged or cut short: fetch it or pack it again.',
      { cause: error },
    );
  }
}

async function gather(pieces: AsyncGenerator<Buffer>, bytes: number): Promise<Buffer> {
  let start = Buffer.alloc(0);
  while (start.length < bytes) {
    const next = await pieces.next();
    if (next.done === true) break;
    start = Buffer.concat([start, next.value]);
  }
  return start;
}

export async function* concatenate(start: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield start;
  yield* rest;
}

/** Converts any encoding to UTF-8, in pieces that end between characters. */
async function* decoded(
  pieces: AsyncGenerator<Buffer>,
  encoding: string | undefined,
): AsyncGenerator<Buffer> {
  const start = await gather(pieces, 64 * 1024);
  if (start.length === 0) return;
  const name = encoding === undefined ? detectEncoding(start).name : knownEncoding(encoding);
  const whole = concatenate(start, pieces);
  if (name !== 'utf-8') {
    const decoder = decoderOf(name);
    for await (const piece of whole) yield Buffer.from(decoder.write(piece));
    yield Buffer.from(decoder.end());
    return;
  }
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of whole) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const end = completeCharacters(bytes);
    rest = bytes.subarray(end);
    yield checkedUtf8(bytes.subarray(0, end));
  }
  if (rest.length > 0) yield checkedUtf8(rest);
}

function checkedUtf8(bytes: Buffer): Buffer {
  if (isUtf8(bytes)) return bytes;
  throw new IngestFailure(
    'invalid_file',
    'The file begins as UTF-8, but later bytes are not. Set its encoding with --encoding, such as windows-1252.',
  );
}
