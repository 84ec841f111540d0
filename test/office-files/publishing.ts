// Publishes files one after another as `almanac publish FILE --yes` does, each in a transaction that is rolled back, and reads the stored data.
// Files are read in this process, which is faster than one of their own. This is all that the tests of office files know of the product:
// planPublishing with findTables, publish with loadTableFile, the keys `guessed` and `skip` of an entry, and the tables of the database.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { IngestFailure } from '../../ingest/failure.ts';
import type { NewEntry } from '../../ingest/entry/entry-file.ts';
import { findTables } from '../../ingest/preview/find-tables.ts';
import { loadTableFile } from '../../ingest/plan/load-table-file.ts';
import { planPublishing, type Plan } from '../../ingest/plan/plan.ts';
import { publish, type Published } from '../../ingest/publisher/publish-tables.ts';
import { inSavepoints, type Database, type Queryable, type Transaction } from '../../kernel/database.ts';
import { fakeClock } from '../services/harness.ts';
import type { StoredSeries } from './compare.ts';

/** Files have dates up to 2025, and names up to this month. */
export const today = '2026-11-27';

export interface Ran {
  stored: StoredSeries[];
  /** The guessed keys, except those that no file states. */
  guessed: string[];
  /** Why tables, or the file, were not loaded; empty: all was. */
  reasons: string[];
  /** How the tables were read, to investigate a fault. */
  entries: unknown[];
  /** The previews of the tables that were found, before they were loaded. */
  shown: NewEntry[];
}

/** Undoes everything that was done in the transaction. */
class Undo extends Error {}

export async function published(
  database: Database,
  { name, content }: { name: string; content: Buffer },
): Promise<Ran> {
  const folder = mkdtempSync(path.join(tmpdir(), 'office-'));
  let ran: Ran | undefined;
  try {
    writeFileSync(path.join(folder, name), content);
    await database.transaction(async (on) => {
      ran = await publishIn(on, database, path.join(folder, name));
      throw new Undo();
    });
  } catch (error) {
    if (!(error instanceof Undo)) throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (ran === undefined) throw new Error('The transaction has not run.');
  return ran;
}

async function publishIn(on: Transaction, database: Database, file: string): Promise<Ran> {
  try {
    const [plan] = await planPublishing(on, {
      targets: [file],
      facts: {},
      again: false,
      today,
      find: findTables,
    });
    if (plan === undefined) throw new Error('There is no plan.');
    try {
      const guesses = guessesOf(plan);
      const within: Database = { ...database, ...loadsWithin(on), query: (...words) => on.query(...words) };
      const result = await publish(within, plan, {
        ...{ acceptGuesses: true, dryRun: false, noGateway: true, seriesTimeZone: 'UTC' },
        clock: fakeClock(`${today}T12:00:00Z`),
        load: (table, settings) => loadTableFile(within, table, settings),
      });
      const entries = plan.tables.map(({ entry }) => entry);
      const reasons = reasonsOf(plan, result);
      return { stored: await storedIn(on), guessed: guesses, reasons, entries, shown: plan.newEntries };
    } finally {
      await plan.close();
    }
  } catch (error) {
    if (!(error instanceof IngestFailure)) throw error;
    return { stored: [], guessed: [], reasons: [error.message], entries: [], shown: [] };
  }
}

/** Each load in a savepoint. Its temporary tables would last until the whole transaction ends, and be in the way of the next load. */
function loadsWithin(on: Transaction): Pick<Database, 'transaction'> {
  const { transaction } = inSavepoints(on);
  return {
    transaction: (work) =>
      transaction(async (within) => {
        const result = await work(within);
        const tables = await on.query<{ name: string }>(
          `select quote_ident(relname) as name from pg_class where relnamespace = pg_my_temp_schema() and relkind = 'r'`,
        );
        if (tables.length > 0) await on.query(`drop table ${tables.map(({ name }) => name).join(', ')}`);
        return result;
      }),
  };
}

/** A file that does not state its unit or source is asked for them, rightly. */
const mayLack = new Set(['series.unit', 'series.source', 'series.name']);

const guessesOf = ({ tables }: Plan): string[] => [
  ...new Set(tables.flatMap(({ entry }) => entry.guessed ?? []).filter((key) => !mayLack.has(key))),
];

function reasonsOf({ tables, unreadable }: Plan, { failed }: Published): string[] {
  return [
    ...unreadable.map(({ reason }) => reason),
    ...tables.flatMap(({ entry }) => (entry.skip === undefined ? [] : [entry.skip])),
    ...failed.map(({ failure }) => failure.message),
  ];
}

async function storedIn(on: Queryable): Promise<StoredSeries[]> {
  return on.query<StoredSeries>(
    `select s.series_id as id, s.name, s.frequency, s.unit, s.unit_multiplier, d.dims,
       json_agg(json_build_object('date', o.date, 'value', o.value::text, 'status', o.status, 'published_on', o.published_on)
         order by o.date) as points
     from data.observations o join data.series_dims d using (line_no) join data.series s using (series_no)
     where o.superseded_on = 'infinity'
     group by s.series_no, d.dims order by 1, 6`,
  );
}
