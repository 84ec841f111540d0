// Before the baseline, a point was named by its series and a number within it (series_no, dims_no). Now each such line has one number of its
// own (line_no). Hides where the rows of an older backup wait until all of them are read, how they get their numbers, and
// what else such a backup lacks.
import type { Transaction } from '../../kernel/database.ts';
import { countRows, type Table } from './backup.sql.ts';

const lineNo = 'line_no';

/** The tables that name lines, as a backup of before the baseline has them. Others are returned as they are. */
export function withoutLineNos(tables: readonly Table[]): Table[] {
  return tables.map(({ table, columns }) =>
    columns.includes(lineNo)
      ? {
          table,
          columns: [...new Set(['series_no', 'dims_no', ...columns.filter((column) => column !== lineNo)])],
        }
      : { table, columns },
  );
}

/** Where the rows of the table wait. */
const asideOf = (table: string): string => `pg_temp.${table.replace('.', '_')}`;

/**
 * Makes tables for the rows that have no line number yet. They are dropped with the transaction.
 * @returns the table that names lines → the table where its rows wait.
 */
export async function setAside(
  on: Transaction,
  tables: readonly Table[],
): Promise<ReadonlyMap<string, string>> {
  const naming = tables.filter(({ columns }) => columns.includes(lineNo)).map(({ table }) => table);
  for (const table of naming) {
    await on.query(
      `create temp table ${asideOf(table).replace('pg_temp.', '')} (like ${table} including defaults) on commit drop`,
    );
    await on.query(
      `alter table ${asideOf(table)} drop column ${lineNo}, add column if not exists series_no integer not null,
         add column dims_no integer not null`,
    );
  }
  return new Map(naming.map((table) => [table, asideOf(table)]));
}

/** Counts the facets of the catalogue, which no backup of before has. */
export async function countFacets(on: Transaction): Promise<void> {
  await on.query(
    `update data.search_entries e set geography = s.geography from data.series s
     where s.series_no = e.series_no and s.geography is not null`,
  );
  await on.query(
    `insert into data.facet_counts (facet, value, series)
     select facet, value, count(*) from data.series,
       lateral (values ('category', category), ('source', source), ('frequency', frequency), ('geography', geography)) each (facet, value)
     where value is not null and deleted_on is null group by facet, value`,
  );
}

/**
 * Brings the rows that wait into their tables. Lines are numbered series by series, and within a series as they were.
 * @param tables of the database. @returns the first table that lacks rows, as they name no line or one that is there twice; undefined: all have theirs.
 */
export async function numberLines(
  on: Transaction,
  tables: readonly Table[],
  aside: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  await on.query(
    `create temp table numbered_lines on commit drop as
     select series_no, dims_no, row_number() over (order by series_no, dims_no)::integer as ${lineNo}
     from ${asideOf('data.series_dims')}`,
  );
  await on.query('analyze numbered_lines');
  for (const { table, columns } of tables) {
    const waiting = aside.get(table);
    if (waiting === undefined) continue;
    await on.query(
      `insert into ${table} (${columns.join(', ')}) select ${columns.join(', ')}
       from ${waiting} join numbered_lines using (series_no, dims_no)`,
    );
    const [rows, all] = [
      await countRows(on, { table, columns }),
      await countRows(on, { table: waiting, columns }),
    ];
    if (rows !== all) return table;
  }
  return undefined;
}
