// The statements of commodities: the two public lists, and whether an item or a city is there.
// Prices are read like every series, by series.sql.ts.
import type { Queryable } from '../../kernel/database.ts';
import type { List } from '../list.sql.ts';

/** What is priced. */
export const itemList: List = {
  name: 'commodity-items',
  datasets: ['commodity-items', 'commodity-prices', 'series'],
  from: 'data.commodity_items i join data.series s using (series_no)',
  fields: {
    id: { sql: 'i.item_id', kind: 'text', sort: 'filled' },
    name: { sql: 'i.name', kind: 'text', sort: 'filled' },
    name_local: { sql: 'i.name_local', kind: 'text' },
    category: { sql: 'i.category', kind: 'text', sort: 'nulls_last' },
    unit: { sql: 'i.unit', kind: 'text' },
    unit_quantity: { sql: 'i.unit_quantity', kind: 'number' },
    unit_measure: { sql: 'i.unit_measure', kind: 'text' },
    currency: { sql: 'i.currency', kind: 'text' },
    coicop: { sql: 'i.coicop', kind: 'text', sort: 'nulls_last' },
    frequency: { sql: 'i.frequency', kind: 'text' },
    source: { sql: 'i.source', kind: 'text' },
    first_date: { sql: 's.first_date', kind: 'date', sort: 'nulls_last' },
    last_date: { sql: 's.last_date', kind: 'date', sort: 'nulls_last' },
    active: { sql: 'i.active', kind: 'boolean' },
    last_updated: { sql: 's.last_updated', kind: 'date', sort: 'nulls_last' },
  },
  key: ['id'],
  sort: 'id',
  isPublic: true,
};

/** Where prices are taken. Their dates come from the ends of each combination's points, found by index. */
export const cityList: List = {
  name: 'commodity-cities',
  datasets: ['commodity-cities', 'commodity-prices'],
  from: `data.commodity_cities c left join (
    select d.dims ->> 'city' as city_id, min(ends.first_date) as first_date, max(ends.last_date) as last_date,
      max(s.last_updated) as last_updated
    from data.commodity_items i join data.series s using (series_no) join data.series_dims d using (series_no), lateral (
      select min(o.date) as first_date, max(o.date) as last_date from data.observations o
      where o.series_no = d.series_no and o.dims_no = d.dims_no and o.superseded_on = 'infinity') ends
    group by d.dims ->> 'city') prices using (city_id)`,
  fields: {
    id: { sql: 'city_id', kind: 'text', sort: 'filled' },
    name: { sql: 'c.name', kind: 'text', sort: 'filled' },
    province: { sql: 'c.province', kind: 'text', sort: 'nulls_last' },
    latitude: { sql: 'c.latitude', kind: 'number' },
    longitude: { sql: 'c.longitude', kind: 'number' },
    first_date: { sql: 'prices.first_date', kind: 'date', sort: 'nulls_last' },
    last_date: { sql: 'prices.last_date', kind: 'date', sort: 'nulls_last' },
    last_updated: { sql: 'prices.last_updated', kind: 'date', sort: 'nulls_last' },
  },
  key: ['id'],
  sort: 'id',
  isPublic: true,
};

/** The ids of all items: they are few, and a mistyped one is compared with each. */
export async function listItemIds(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'select item_id as id from data.commodity_items order by 1',
    [],
    'commodity_item_ids',
  );
  return rows.map(({ id }) => id);
}

/** id → name, of all cities. */
export async function listCityNames(database: Queryable): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ id: string; name: string }>(
    'select city_id as id, name from data.commodity_cities order by 1',
    [],
    'commodity_city_names',
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
