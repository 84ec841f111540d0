// Reads a table as of the end of a past day, if its loads keep the rows that they replace (ingest/load/store/stated-rows.sql.ts). These loads
// count from the day on which they were made, so the row of a day is the one that the last load up to that day wrote.
import { dayMark, type AsOfTable } from './tables.sql.ts';

/** A table whose loads keep the rows that they replace. */
interface VersionedTable {
  /** Without its schema. */
  name: string;
  dataset: string;
  /** Its columns that statements read, with their types, without `updated_on`. */
  columns: Readonly<Record<string, string>>;
}

/** The condition that no load of the dataset has changed the row after the day; null for a row without a load, which is dated by its own column. */
export const isOfThen = (row: string, dataset: string): string =>
  `${row}.load_no not in (select l.load_no from data.loads l where l.dataset = '${dataset}' and l.vintage > ${dayMark})`;

/** The table as of the day; and, as `former_` and its name, the rows that it had then and no longer has. */
export function withFormerRows({
  name,
  dataset,
  columns,
}: VersionedTable): Readonly<Record<string, AsOfTable>> {
  const names = Object.keys(columns);
  const cells = Object.entries(columns).map(
    ([column, type]) => `(r.content ->> '${column}')::${type} as ${column}`,
  );
  return {
    [`former_${name}`]: {
      sql: `
        select ${cells.join(', ')}, made.loaded_at::date as updated_on
        from data.loads later join data.replaced_rows r on r.replaced_by = later.load_no
          join data.loads made on made.load_no = r.load_no
        where later.dataset = '${dataset}' and later.vintage > ${dayMark} and made.vintage <= ${dayMark}`,
    },
    [name]: {
      needs: [`former_${name}`],
      sql: `
        select ${[...names, 'updated_on'].map((column) => `k.${column}`).join(', ')} from data.${name} k
        where coalesce(${isOfThen('k', dataset)}, k.updated_on <= ${dayMark})
        union all
        select ${[...names, 'updated_on'].join(', ')} from as_of_former_${name}`,
    },
  };
}
