// Replaces the whole database of Almanac by a backup, in one transaction: all of it, or nothing.
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Database, Transaction } from '../../kernel/database.ts';
import { schemaDifferences } from '../../kernel/schema.sql.ts';
import { baselineEnd, hasBaselineTables } from '../../migrations/baseline.ts';
import {
  analyze,
  advanceNumbers,
  beginRestore,
  connectedPrograms,
  copyIn,
  countRows,
  emptyJobs,
  endRestore,
  isEmpty,
  readMigrations,
  readSequences,
  readTables,
  setSequences,
  type Table,
} from './backup.sql.ts';
import { countFacets, numberLines, setAside, withoutLineNos } from './lines.sql.ts';
import {
  BackupReader,
  BackupUnreadable,
  endSchema,
  headerSchema,
  tableEndSchema,
  type Header,
} from './format.ts';

export interface RestoreSummary {
  tables: number;
  rows: number;
  /** When the backup was made. */
  madeAt: string;
  /** The number of the newest load from now on. */
  load: number;
}

export interface RestoreOptions {
  /** Whether existing data may be deleted. */
  replace: boolean;
  /** Receives how many rows have been read. */
  onRows: (rows: number) => void;
}

/**
 * Restores a backup.
 * @param database as its owner; it has the migrations of this version.
 * @throws BackupUnreadable if the backup is damaged or truncated; Error with a remedy if it does not fit this database, or the database is
 * not empty or in use. Then nothing has changed.
 */
export async function restoreBackup(
  database: Database,
  input: Readable,
  options: RestoreOptions,
): Promise<RestoreSummary> {
  const unpacked = createGunzip();
  const reading = pipeline(input, unpacked);
  reading.catch(() => undefined); // the reader of `unpacked` gets the error
  const reader = new BackupReader(unpacked as AsyncIterable<Buffer>);
  try {
    const header = await reader.json(headerSchema, 'its header');
    const summary = await database.transaction((on) => replaceAll(on, reader, header, options));
    await analyze(database, header.tables);
    return summary;
  } finally {
    unpacked.destroy(); // which ends the input too
    await reading.catch(() => undefined); // ended, or reported above
  }
}

async function replaceAll(
  on: Transaction,
  reader: BackupReader,
  header: Header,
  { replace, onRows }: RestoreOptions,
): Promise<RestoreSummary> {
  const tables = await requireFit(on, header);
  await requireUnused(on);
  if (!replace && !(await isEmpty(on)))
    throw new Error(
      'This database is not empty. Restore into an empty one, or delete its content with --replace.',
    );
  const keys = await beginRestore(on, tables);
  const aside = hasBaselineTables(header.migrations) ? await setAside(on, tables) : null;
  let rows = 0;
  for (const table of header.tables) {
    rows += await restoreTable(on, reader, table, aside?.get(table.table));
    onRows(rows);
  }
  const end = await reader.json(endSchema, 'its last line');
  await reader.finish();
  if (end.rows !== rows) throw new BackupUnreadable(`The backup states ${end.rows} rows, and has ${rows}.`);
  const lacking = aside === null ? undefined : await numberLines(on, tables, aside);
  if (lacking !== undefined)
    throw new BackupUnreadable(
      `The backup is damaged: ${lacking} has rows of combinations of dimension values that the backup does not have, or has twice.`,
    );
  if (aside !== null) await countFacets(on);
  await endRestore(on, tables, keys);
  await setSequences(on, header.sequences);
  await emptyJobs(on);
  const load = await advanceNumbers(on);
  await requireUnused(on); // a process that now waits for the tables has seen the previous state
  return { tables: header.tables.length, rows, madeAt: header.made_at, load };
}

/**
 * @param into where the rows go, if not into the table itself.
 * @returns how many rows. @throws BackupUnreadable if they are not those that were backed up.
 */
async function restoreTable(
  on: Transaction,
  reader: BackupReader,
  table: Table,
  into = table.table,
): Promise<number> {
  const hash = createHash('sha256');
  const target = { ...table, table: into };
  const copy = copyIn(on, target);
  await pipeline(
    reader.rows(table.table),
    async function* hashed(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    },
    copy,
  ).catch((error: unknown) => {
    throw isOfRow(error) ? damagedRow(table.table, error) : error;
  });
  const end = await reader.json(tableEndSchema, `the end of ${table.table}`);
  const stored = await countRows(on, target);
  if (end.table !== table.table || end.sha256 !== hash.digest('hex'))
    throw new BackupUnreadable(
      `The backup is damaged: the rows of ${table.table} are not those that were written.`,
    );
  if (end.rows !== stored)
    throw new BackupUnreadable(
      `The backup states ${end.rows} rows of ${table.table}; ${stored} were stored.`,
    );
  return stored;
}

/** Whether PostgreSQL rejected a row: data that it cannot read (class 22), or that breaks a constraint (class 23). */
const isOfRow = (error: unknown): error is Error =>
  error instanceof Error && 'code' in error && /^2[23]/.test(String(error.code));

const damagedRow = (table: string, error: Error) =>
  new BackupUnreadable(
    `The backup is damaged: a row of ${table} is not one that was written (${error.message}).`,
    { cause: error },
  );

/**
 * A backup fits a database with exactly its migrations, as only these define its columns, or with exactly the baseline.
 * @returns the tables of the database. @throws Error if it does not fit.
 */
async function requireFit(on: Transaction, header: Header): Promise<Table[]> {
  const applied = await readMigrations(on);
  const backedUp = hasBaselineTables(header.migrations)
    ? applied.filter(({ name }) => name <= baselineEnd)
    : header.migrations;
  const { missing, changed, newer } = schemaDifferences(backedUp, applied);
  const faults = [
    missing.length === 0 ? [] : [`the backup has ${missing.join(', ')}, this database does not`],
    newer.length === 0 ? [] : [`this database has ${newer.join(', ')}, the backup does not`],
    changed.length === 0 ? [] : [`the texts of ${changed.join(', ')} differ`],
  ].flat();
  if (faults.length > 0)
    throw new Error(
      `This backup was made by Almanac ${header.almanac} with another schema: ${faults.join('; ')}. ` +
        'Restore it with that version into an empty database; then start this version, which migrates it.',
    );
  const [known, sequences] = [await readTables(on), await readSequences(on)];
  const isSame =
    (hasBaselineTables(header.migrations)
      ? isAsBefore(known, header.tables)
      : JSON.stringify(known) === JSON.stringify(header.tables)) &&
    JSON.stringify(Object.keys(sequences)) === JSON.stringify(Object.keys(header.sequences));
  if (!isSame)
    throw new Error('The tables of this database are not those of the backup, though its migrations are.');
  return known;
}

/**
 * Whether all data of a backup from before the baseline has a place. The baseline has more tables, which stay empty, and more columns,
 * which get their defaults; its columns are in another order, and it numbers lines.
 */
function isAsBefore(tables: readonly Table[], backedUp: readonly Table[]): boolean {
  const columnsOf = new Map(withoutLineNos(tables).map(({ table, columns }) => [table, new Set(columns)]));
  const isKnown = ({ table, columns }: Table): boolean => {
    const known = columnsOf.get(table);
    return known !== undefined && isSet(columns) && columns.every((column) => known.has(column));
  };
  return backedUp.every(isKnown) && isSet(backedUp.map(({ table }) => table));
}

const isSet = (names: readonly string[]): boolean => new Set(names).size === names.length;

/** Services cache in memory what they have read. */
async function requireUnused(on: Transaction): Promise<void> {
  const programs = await connectedPrograms(on);
  if (programs.length > 0)
    throw new Error(
      `This database is in use (${programs.join(', ')}). Stop all services and commands first.`,
    );
}
