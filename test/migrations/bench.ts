// The tools for the cases of triggers: statements on one connection, and the rows of the tables' cases.
import type pg from 'pg';
import { accountsTables } from './accounts-tables.ts';
import { eventTables } from './event-tables.ts';
import { embargoTables } from './embargo-tables.ts';
import { billingTables } from './billing-tables.ts';
import { fundTables } from './fund-tables.ts';
import { marketTables } from './market-tables.ts';
import { catalogTables } from './catalog-tables.ts';
import { loadTables } from './load-tables.ts';
import { seriesTables } from './series-tables.ts';
import { signInTables } from './sign-in-tables.ts';
import { undoTables } from './undo-tables.ts';
import { webhookTables } from './webhook-tables.ts';
import type { Row, TableCases } from './tables.ts';

/** Every table of the schema. */
export const tables: readonly TableCases[] = [
  ...accountsTables,
  ...billingTables,
  ...signInTables,
  ...webhookTables,
  ...loadTables,
  ...seriesTables,
  ...catalogTables,
  ...undoTables,
  ...marketTables,
  ...fundTables,
  ...eventTables,
  ...embargoTables,
];

export interface Bench {
  run(text: string, values?: readonly unknown[]): Promise<unknown>;
  /** The values of a statement's rows: of one column as they are, of several as arrays. */
  values(text: string): Promise<unknown[]>;
  /** Inserts the row of a table's cases, changed so. */
  insert(table: string, change?: Row): Promise<void>;
  /** Does work in a transaction and undoes it. */
  undone<T>(work: () => Promise<T>): Promise<T>;
}

export interface TriggerCase {
  /** Schema, table and name. */
  trigger: string;
  /** Runs statements and reports the result. */
  seen: (db: Bench) => Promise<unknown>;
  expected: unknown;
}

export function createBench(client: pg.Client): Bench {
  const rows = new Map(tables.map(({ table, row, needs }) => [table, { ...row, ...needs }]));
  return {
    run: (text, values) => client.query(text, values === undefined ? undefined : [...values]),
    async values(text) {
      const result = await client.query<unknown[]>({ text, rowMode: 'array' });
      return result.rows.map((row) => (row.length === 1 ? row[0] : row));
    },
    async insert(table, change = {}) {
      const row: Row = { ...rows.get(table), ...change };
      const places = Object.keys(row).map((_column, i) => `$${i + 1}`);
      await client.query(
        `insert into ${table} (${Object.keys(row).join(', ')})
         overriding system value values (${places.join(', ')})`,
        Object.values(row),
      );
    },
    async undone(work) {
      await client.query('begin');
      try {
        return await work();
      } finally {
        await client.query('rollback');
      }
    },
  };
}
