// Writes a Parquet file row by row, in row groups, with memory that does not grow with the file, and computes its checksum.
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import zlib from 'node:zlib';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';

/** The types by their SQL names. A DATE is written as days since 1970-01-01. */
export interface Column {
  name: string;
  type: 'VARCHAR' | 'DATE' | 'DOUBLE' | 'BIGINT';
  isRequired: boolean;
  /** For few or consecutive distinct values: a row group stores each once. */
  isRepetitive?: boolean;
  /** Omits the statistics: readers have no use for its minimum and maximum. */
  isUnordered?: boolean;
}

export type Cell = string | number | bigint | null;

export interface ParquetFile {
  /** @param cells in the order of the columns. */
  add(cells: readonly Cell[]): void;
  /** Writes the rest and flushes it: the file survives a power failure if its name does. */
  finish(): { bytes: number; sha256: string; rows: number };
  /** Removes what was written. */
  abandon(): void;
}

/** The first row group is small, enough for a preview. */
const firstGroupRows = 1_000;
const groupRows = 100_000;
/** A row group is buffered as arrays: for a wide table it has fewer rows. */
const groupCells = 1_000_000;
const chunkBytes = 1 << 20;
// Of 1, 3 and 9, the lowest is 2 % larger and takes the least time.
const compression = { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } };

/**
 * Begins a file. @param target its absolute path.
 * @param metadata key-value pairs stored in the file.
 */
export function createParquetFile(
  target: string,
  columns: readonly Column[],
  metadata: Readonly<Record<string, string>>,
): ParquetFile {
  const file = new FileWriter(target);
  const writer = new ParquetWriter({
    writer: file,
    schema: schemaOf(columns),
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zlib.zstdCompressSync(bytes, compression) },
    kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
    createdBy: 'almanac',
  });
  const most = Math.max(1_000, Math.min(groupRows, Math.floor(groupCells / columns.length)));
  let group: Cell[][] = columns.map(() => []);
  let bufferedRows = 0;
  let rows = 0;

  function flush(): void {
    if (bufferedRows === 0) return;
    void writer.write({
      columnData: columns.map(({ name, isRepetitive, isUnordered = false }, at) => ({
        name,
        data: group[at] ?? [],
        statistics: !isUnordered,
        ...(isRepetitive === true && { encoding: 'RLE_DICTIONARY' as const }),
      })),
      rowGroupSize: bufferedRows,
    });
    rows += bufferedRows;
    bufferedRows = 0;
    group = columns.map(() => []);
  }

  return {
    add(cells) {
      for (let at = 0; at < group.length; at += 1) group[at]?.push(cells[at] ?? null);
      bufferedRows += 1;
      if (bufferedRows >= (rows === 0 ? firstGroupRows : most)) flush();
    },
    finish() {
      flush();
      void writer.finish();
      const { bytes, sha256 } = file.complete();
      return { bytes, sha256, rows };
    },
    abandon() {
      file.close();
      rmSync(target, { force: true });
    },
  };
}

const physical = {
  VARCHAR: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  DATE: { type: 'INT32', converted_type: 'DATE' },
  DOUBLE: { type: 'DOUBLE' },
  BIGINT: { type: 'INT64' },
} as const;

function schemaOf(columns: readonly Column[]): SchemaElement[] {
  return [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, type, isRequired }): SchemaElement => ({
      name,
      ...physical[type],
      repetition_type: isRequired ? 'REQUIRED' : 'OPTIONAL',
    })),
  ];
}

/** Writes to a file as the library fills its buffer, and adds up the checksum. */
class FileWriter extends ByteWriter {
  readonly #descriptor: number;
  readonly #hash = createHash('sha256');
  #isOpen = true;

  constructor(file: string) {
    super(2 * chunkBytes);
    this.#descriptor = openSync(file, 'w', 0o644);
  }

  override ensure(size: number): void {
    if (this.index >= chunkBytes) this.flush();
    super.ensure(size);
  }

  flush(): void {
    const bytes = new Uint8Array(this.buffer, 0, this.index);
    this.#hash.update(bytes);
    for (let at = 0; at < bytes.length;) at += writeSync(this.#descriptor, bytes, at);
    this.index = 0;
  }

  override finish(): void {
    this.flush();
  }

  complete(): { bytes: number; sha256: string } {
    fsyncSync(this.#descriptor);
    this.close();
    return { bytes: this.offset, sha256: this.#hash.digest('hex') };
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }
}
