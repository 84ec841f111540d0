// The format of a backup: gzip of lines of text. A header in JSON; then each table in COPY's text format, followed by a line `\.` and a
// line of JSON with its count and SHA-256; finally a line that marks the backup as complete. `zcat` shows all of it. Reading and writing
// hold only a piece of a table in memory.
import { z } from 'zod';

/** Increased with every change that an earlier version cannot read. */
export const formatVersion = 1;

export const headerSchema = z.strictObject({
  format: z.literal('almanac-backup'),
  format_version: z.literal(formatVersion),
  /** The version of the program that made it. Messages name it and the migrations. */
  almanac: z.string().regex(/^[\w.+-]{1,64}$/),
  made_at: z.iso.datetime(),
  /** The migrations of the database; only a database with the same ones accepts the backup. */
  migrations: z.array(z.strictObject({ name: z.string().regex(/^\w{1,128}$/), checksum: z.string() })),
  /** In file order. */
  tables: z.array(z.strictObject({ table: z.string(), columns: z.array(z.string()) })),
  /** The last value of each sequence. */
  sequences: z.record(z.string(), z.string().regex(/^\d{1,19}$/)),
});
export type Header = z.output<typeof headerSchema>;

/** After each table. */
export const tableEndSchema = z.strictObject({
  table: z.string(),
  rows: z.int().min(0),
  sha256: z.string(),
});

/** The last line; a backup without it is truncated. */
export const endSchema = z.strictObject({ end: z.literal('almanac-backup'), rows: z.int().min(0) });

/** Ends a table; no line of COPY is like it. */
export const tableEnd = '\\.\n';

/** A backup that cannot be read: damaged, truncated, or not a backup. */
export class BackupUnreadable extends Error {}

const headerBytesMax = 4 * 1024 * 1024;
const newline = 0x0a;
const endMark = Buffer.from(`\n${tableEnd}`);

/** Reads the parts of a backup, in their order. */
export class BackupReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  /** @param unpacked the bytes after gzip. */
  constructor(unpacked: AsyncIterable<Buffer>) {
    this.#chunks = unpacked[Symbol.asyncIterator]();
  }

  /** The next line, which is JSON of this schema. @param what it is, for a message. */
  async json<Output>(schema: z.ZodType<Output>, what: string): Promise<Output> {
    let end = this.#rest.indexOf(newline);
    while (end < 0) {
      if (this.#rest.length > headerBytesMax) throw unreadable(what);
      await this.#more(what);
      end = this.#rest.indexOf(newline);
    }
    const line = this.#rest.subarray(0, end).toString('utf8');
    this.#rest = this.#rest.subarray(end + 1);
    const parsed = schema.safeParse(jsonOf(line));
    if (!parsed.success) throw unreadable(what);
    return parsed.data;
  }

  /** The rows of the next table, as input of COPY; the line that ends it is consumed. */
  async *rows(table: string): AsyncGenerator<Buffer> {
    // As if a line had ended before the first one, so that an empty table ends at once.
    let isStart = true;
    for (;;) {
      const closesAtOnce = isStart && this.#rest.subarray(0, tableEnd.length).equals(endMark.subarray(1));
      const end = closesAtOnce ? -1 : this.#rest.indexOf(endMark);
      if (closesAtOnce || end >= 0) {
        const rows = this.#rest.subarray(0, end + 1);
        this.#rest = this.#rest.subarray(end + endMark.length);
        if (rows.length > 0) yield rows;
        return;
      }
      // Bytes that may be the beginning of the mark are kept until more have arrived.
      const sure = isStart && this.#rest.length < endMark.length ? 0 : this.#rest.length - endMark.length;
      if (sure > 0) {
        isStart = false;
        yield this.#rest.subarray(0, sure);
        this.#rest = this.#rest.subarray(sure);
      }
      await this.#more(table);
    }
  }

  /** Throws if data follow. */
  async finish(): Promise<void> {
    const { done } = await this.#next('its end');
    if (this.#rest.length > 0 || done !== true) throw unreadable('its end');
  }

  async #more(what: string): Promise<void> {
    const { done, value } = await this.#next(what);
    if (done === true) throw new BackupUnreadable(`The backup is cut off: it ends within ${what}.`);
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value]);
  }

  async #next(what: string): Promise<IteratorResult<Buffer, undefined>> {
    try {
      return (await this.#chunks.next()) as IteratorResult<Buffer, undefined>;
    } catch (error) {
      if (!String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw error;
      throw new BackupUnreadable(
        `The backup is not a gzip file, or it is damaged or cut off, within ${what}.`,
        {
          cause: error,
        },
      );
    }
  }
}

function unreadable(what: string): BackupUnreadable {
  return new BackupUnreadable(`This is not a backup of this version of Almanac, or it is damaged: ${what}.`);
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // which no schema accepts
  }
}
