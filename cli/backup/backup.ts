// Writes the whole database of Almanac, as of one moment, to a stream. Services and loads continue meanwhile.
import { createHash } from 'node:crypto';
import { Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Database, Transaction } from '../../kernel/database.ts';
import { programVersion } from '../../kernel/project.ts';
import {
  backendOf,
  beginReading,
  cancelStatement,
  copyOut,
  isForbidden,
  readMigrations,
  readSequences,
  readTables,
  type Table,
} from './backup.sql.ts';
import { formatVersion, tableEnd, type Header } from './format.ts';

export interface BackupSummary {
  tables: number;
  rows: number;
  /** The size of the file. */
  bytes: number;
  migration: string;
}

// Rows that differ little compress well at any level, and level 1 is several times as fast as the default.
const gzipLevel = 1;

/**
 * Writes a backup, and ends the sink.
 * @param onRows receives how many rows have been written.
 * @throws Error with a remedy if the role may not read everything.
 */
export async function writeBackup(
  database: Database,
  sink: Writable,
  onRows: (rows: number) => void,
): Promise<BackupSummary> {
  let bytes = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  let summary: Omit<BackupSummary, 'bytes'> | undefined;
  try {
    await database.transaction(async (on) => {
      await pipeline(
        async function* write() {
          await beginReading(on);
          const backend = await backendOf(on);
          const cancel = () => cancelStatement(database, backend);
          summary = yield* parts(on, { onRows, cancel });
        },
        createGzip({ level: gzipLevel }),
        counter,
        sink,
      );
    });
  } catch (error) {
    throw isForbidden(error)
      ? new Error('The role of DATABASE_URL may not read everything: a backup needs that of the owner.', {
          cause: error,
        })
      : error;
  }
  if (summary === undefined) throw new Error('the backup was not written to its end');
  return { ...summary, bytes };
}

interface Reading {
  onRows: (rows: number) => void;
  /** Ends the running COPY. */
  cancel: () => Promise<void>;
}

async function* parts(
  on: Transaction,
  { onRows, cancel }: Reading,
): AsyncGenerator<Buffer | string, Omit<BackupSummary, 'bytes'>> {
  const header = await readHeader(on);
  yield `${JSON.stringify(header)}\n`;
  let rows = 0;
  for (const table of header.tables) {
    const end = yield* tableParts(on, table, { cancel, onRows: (ofTable) => onRows(rows + ofTable) });
    yield tableEnd + `${JSON.stringify(end)}\n`;
    rows += end.rows;
  }
  yield `${JSON.stringify({ end: 'almanac-backup', rows })}\n`;
  return { tables: header.tables.length, rows, migration: header.migrations.at(-1)?.name ?? '' };
}

async function* tableParts(on: Transaction, table: Table, { onRows, cancel }: Reading) {
  const hash = createHash('sha256');
  const copy = copyOut(on, table);
  try {
    for await (const chunk of copy.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      onRows(copy.rowCount);
      yield chunk;
    }
  } finally {
    // Nobody reads the rest, for example because the disk is full. The connection serves nothing else before its COPY has ended.
    if (!copy.readableEnded && !copy.errored) {
      copy.on('error', () => undefined).resume(); // that it was cancelled
      await cancel();
    }
  }
  return { table: table.table, rows: copy.rowCount, sha256: hash.digest('hex') };
}

async function readHeader(on: Transaction): Promise<Header> {
  const applied = await readMigrations(on);
  return {
    format: 'almanac-backup',
    format_version: formatVersion,
    almanac: programVersion,
    made_at: new Date().toISOString(),
    migrations: applied,
    tables: await readTables(on),
    sequences: await readSequences(on),
  };
}
