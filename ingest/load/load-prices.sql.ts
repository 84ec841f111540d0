// The statements for commodity prices: look up and insert items and cities.
import type { Queryable } from '../../kernel/database.ts';

/** A row to insert: the table's columns as texts. */
export type NewRow = Readonly<Record<string, string | null>>;

/** All items, with the unit of their prices. */
export function findItems(on: Queryable): Promise<{ item_id: string; unit: string }[]> {
  return on.query('select item_id, unit from data.commodity_items');
}

/** All cities. */
export function findCities(on: Queryable): Promise<{ city_id: string }[]> {
  return on.query('select city_id from data.commodity_cities');
}

/** Inserts items, which get their series, or cities. @param columns that the rows have; the others get their defaults. */
export async function insertRows(
  on: Queryable,
  table: 'data.commodity_items' | 'data.commodity_cities',
  columns: readonly string[],
  rows: readonly NewRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await on.query(
    `insert into ${table} (${columns.join(', ')})
     select ${columns.join(', ')} from jsonb_populate_recordset(null::${table}, $1)`,
    [JSON.stringify(rows)],
  );
}
