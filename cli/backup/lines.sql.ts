// Restores backups from before the baseline. They name a point by its series and a number within it (series_no, dims_no); now each such
// line has a number of its own (line_no). Rows of such a backup are staged until all of them are read, then numbered; missing counts are
// added.
import type { Transaction } from '../../kernel/database.ts';
import { countRows, type Table } from './backup.sql.ts';

const lineNo = 'line_no';

/** The tables that name lines, as in a backup from before the baseline. Others are returned unchanged. */
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

/** The staging table of the table. */
const asideOf = (table: string): string => `pg_temp.${table.replace('.', '_')}`;

/**
 * Creates tables for the rows that have no line number yet. They are dropped with the transaction.
 * @returns the table that names lines → its staging table.
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

/** Counts the facets of the catalogue, which earlier backups do not have. */
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
 * Moves the staged rows into their tables. Lines are numbered series by series, and keep their order within a series.
 * @param tables of the database. @returns the first table that lacks rows, because they name no line or a duplicate one; undefined if none
 * does.
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
