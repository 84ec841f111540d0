// The statements for commodity prices: look up and insert items and cities.
import type { Queryable } from '../../kernel/database.ts';

/** A row to insert: `id`, `name`, and the table's other columns as texts. */
export type NewRow = Readonly<Record<string, string | null>>;

/** All items, with the unit of their prices. */
export function findItems(on: Queryable): Promise<{ item_id: string; unit: string }[]> {
  return on.query('select item_id, unit from data.commodity_items');
}

/** All cities. */
export function findCities(on: Queryable): Promise<{ city_id: string }[]> {
  return on.query('select city_id from data.commodity_cities');
}

/** Inserts items and their series. */
export async function insertItems(on: Queryable, rows: readonly NewRow[]): Promise<void> {
  await on.query(
    `insert into data.commodity_items (item_id, name, name_local, category, unit, unit_quantity, unit_measure, currency,
       coicop, frequency, source)
     select id, name, name_local, category, unit, unit_quantity, unit_measure, currency, coicop, frequency, source
     from jsonb_to_recordset($1) as row (id text, name text, name_local text, category text, unit text,
       unit_quantity numeric, unit_measure text, currency text, coicop text, frequency text, source text)`,
    [JSON.stringify(rows)],
  );
}

/** Inserts cities. */
export async function insertCities(on: Queryable, rows: readonly NewRow[]): Promise<void> {
  await on.query(
    `insert into data.commodity_cities (city_id, name, province, latitude, longitude)
     select id, name, province, latitude, longitude
     from jsonb_to_recordset($1) as row (id text, name text, province text, latitude numeric, longitude numeric)`,
    [JSON.stringify(rows)],
  );
}
