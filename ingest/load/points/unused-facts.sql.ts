// The statement that finds existing rows whose facts differ from the constants of a load.
import type { Queryable } from '../../../kernel/database.ts';

const tables = {
  series: { name: 'data.series', key: 'series_id' },
  'commodity-items': { name: 'data.commodity_items', key: 'item_id' },
  'commodity-cities': { name: 'data.commodity_cities', key: 'city_id' },
} as const;

/** The dataset whose rows --create makes. */
export type FactTable = keyof typeof tables;

/**
 * Finds, among the existing rows of these ids, facts that differ from the given ones; the first of each row. @param facts by the table's
 * columns.
 */
export function findOtherFacts(
  on: Queryable,
  table: FactTable,
  ids: readonly string[],
  facts: Readonly<Record<string, string | null>>,
): Promise<{ id: string; name: string; stored: string | null }[]> {
  const { name, key } = tables[table];
  return on.query(
    `select distinct on (k.${key}) k.${key} as id, given.key as name, to_jsonb(k)->>given.key as stored
     from ${name} k, jsonb_each_text($2) given
     where k.${key} = any($1)
       and case jsonb_typeof(to_jsonb(k)->given.key)
         when 'array' then to_jsonb(k)->given.key <> to_jsonb(given.value::text[])
         when 'number' then (to_jsonb(k)->>given.key)::numeric is distinct from given.value::numeric
         else to_jsonb(k)->>given.key is distinct from given.value end
     order by k.${key}, given.key`,
    [ids, JSON.stringify(facts)],
  );
}
