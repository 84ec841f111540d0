// Sets facts of many series from a file or a request, all or none, as one load. The faults of all rows are found before any is written.
import type { Database, Transaction } from '../../../kernel/database.ts';
import { fail } from '../../../kernel/errors.ts';
import { IngestFailure } from '../../failure.ts';
import type { ChangeSettings } from '../change-under-lock.ts';
import { deletedBecause, earlierIdBecause, noSeries, changeByLoad, type SeriesChange } from './change.ts';
import { findByIds } from './change.sql.ts';
import type { FactsFault, FactsFile, FactsOfRow } from './facts-file.ts';
import { factColumns } from '../../datasets/metadata.ts';
import { datedBecause, isDated, ofItemBecause } from './set.ts';
import {
  findManyFactChanges,
  findPublished,
  updateFacts,
  type FactChange,
  type WishedFacts,
} from './set.sql.ts';

export interface SetManyOptions extends ChangeSettings, FactsFile {
  /** The name of the file, for messages and the record; undefined for a request, whose rows are named by their ids. */
  fileName?: string;
}

/** Nothing was changed, because of these faults. */
export class FactsRefused extends IngestFailure {
  /** All, in the order of the rows. */
  readonly faults: readonly FactsFault[];

  constructor(message: string, faults: readonly FactsFault[]) {
    super('invalid_rows', message);
    this.faults = faults;
  }
}

export interface FactsOfSeries {
  series: string;
  /** The facts that differed, in the order of the dataset's columns. */
  changes: FactChange[];
}

export interface ManyFactsChange extends Pick<SeriesChange, 'loadNo' | 'interruptions'> {
  /** The series that changed, in the order of the rows. */
  changed: FactsOfSeries[];
  /** How many already had their facts. */
  unchanged: number;
}

type Row = FactsOfRow & Pick<WishedFacts, 'seriesNo'> & { isOfItem: boolean; changes: FactChange[] };

const faultsShown = 10;

/**
 * Facts have no vintages: readers of every vintage see the new ones, and the audit event has the previous ones.
 * @throws FactsRefused with the first faults in its message; Failure `conflict` if nothing would change. Nothing is stored then.
 */
export async function setManyFacts(
  database: Pick<Database, 'transaction'>,
  { rows, faults, fileName, ...options }: SetManyOptions,
): Promise<ManyFactsChange> {
  const action = 'series.changed';
  const record = { action, sourceName: fileName === undefined ? action : `${action} ${fileName}` } as const;
  const { result, ...load } = await changeByLoad(database, record, options, {
    async find(on) {
      const found = await findRows(on, rows);
      const all = [...faults, ...found.faults];
      if (all.length > 0) throw refused(fileName, all);
      found.rows.forEach(refuseIfChangedMeanwhile);
      const changed = found.rows.filter(({ changes }) => changes.length > 0);
      if (changed.length === 0)
        fail(
          'conflict',
          `All series${fileName === undefined ? '' : ` of ${fileName}`} have these facts already.`,
        );
      return changed;
    },
    async apply(changed, { on, loadNo }) {
      await updateFacts(on, loadNo, changed.map(toWish));
      return {
        result: changed.map(({ id: series, changes }) => ({ series, changes })),
        changed: changed.map(({ seriesNo, id, changes }) => ({
          seriesNo,
          subject: id,
          details: { changes },
        })),
      };
    },
  });
  return { ...load, changed: result, unchanged: rows.length - result.length };
}

/** @throws Failure `conflict` if a fact no longer has the value that the request names. */
function refuseIfChangedMeanwhile({ id, before = {}, changes }: Row): void {
  for (const { fact, from } of changes) {
    if (!(fact in before) || textOf(from) === textOf(before[fact])) continue;
    fail(
      'conflict',
      `"${fact}" of ${id} is ${textOf(from)}, no longer ${textOf(before[fact])}: it was changed meanwhile. Look at the changes again.`,
    );
  }
}

/** As in JSON; an empty list is no value. */
const textOf = (value: unknown): string =>
  Array.isArray(value) && value.length === 0 ? 'null' : JSON.stringify(value ?? null);

/** The facts that differ. */
const toWish = ({ seriesNo, values, changes }: Row): WishedFacts => ({
  seriesNo,
  values: Object.fromEntries(changes.map(({ fact }) => [fact, values[fact] ?? null])),
});

/** The rows with their changes, and the reasons why some cannot change. */
async function findRows(
  on: Transaction,
  given: readonly FactsOfRow[],
): Promise<{ rows: Row[]; faults: FactsFault[] }> {
  const faults: FactsFault[] = [];
  const found = await findByIds(
    on,
    given.map(({ id }) => id),
  );
  const rows = given.flatMap((row): Row[] => {
    const series = found.get(row.id);
    const because =
      series === undefined ? noSeries(row.id) : (earlierIdBecause(row.id, series) ?? deletedBecause(series));
    if (series !== undefined && because === null) return [{ ...row, ...series, changes: [] }];
    faults.push({ line: row.line, id: row.id, fact: null, text: because ?? '' });
    return [];
  });
  const changes = await findManyFactChanges(
    on,
    rows,
    factColumns.map(({ name }) => name),
  );
  for (const row of rows) row.changes = changes.get(row.seriesNo) ?? [];
  return { rows, faults: [...faults, ...(await unchangeable(on, rows))] };
}

async function unchangeable(on: Transaction, rows: readonly Row[]): Promise<FactsFault[]> {
  const dated = rows.filter(({ changes }) => isDated(changes)).map(({ seriesNo }) => seriesNo);
  const published = await findPublished(on, dated);
  return rows.flatMap((row) => {
    const { line, id, seriesNo, changes } = row;
    const because =
      ofItemBecause(row, changes) ?? (published.has(seriesNo) ? datedBecause(row, changes) : null);
    return because === null ? [] : [{ line, id, fact: null, text: because }];
  });
}

function refused(fileName: string | undefined, faults: readonly FactsFault[]): FactsRefused {
  const inOrder = faults.toSorted((a, b) => a.line - b.line);
  const shown = inOrder
    .slice(0, faultsShown)
    .map(({ line, id, text }) => `${fileName === undefined ? id : `line ${line}`}: ${text}`);
  const more = faults.length - shown.length;
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`;
  return new FactsRefused(
    [
      `${fileName ?? 'The request'} has ${count}; nothing was changed.`,
      ...shown.map((text) => `  ${text}`),
      ...(more === 0 ? [] : [`  and ${more} more`]),
    ].join('\n'),
    inOrder,
  );
}
