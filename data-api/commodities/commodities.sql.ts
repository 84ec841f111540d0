// The statements for commodities: the two public lists, and whether an item or a city exists.
// Prices are read by series.sql.ts, like every series.
import { frequencies } from '../../domain/periods.ts';
import type { Queryable } from '../../kernel/database.ts';
import { boolean, date, filled, number, sorted, text, word } from '../list-fields.ts';
import type { List } from '../list.sql.ts';

/** The items that have prices. */
export const itemList: List = {
  name: 'commodity-items',
  datasets: ['commodity-items', 'commodity-prices', 'observations', 'series'],
  from: 'data.commodity_items i join data.series s using (series_no)',
  fields: {
    id: sorted(filled(text('i.item_id'))),
    name: sorted(filled(text('i.name'))),
    name_local: text('i.name_local'),
    category: sorted(text('i.category')),
    unit: filled(text('i.unit')),
    unit_quantity: number('i.unit_quantity'),
    unit_measure: text('i.unit_measure'),
    currency: filled(text('i.currency')),
    coicop: sorted(text('i.coicop')),
    frequency: filled(word('i.frequency', frequencies)),
    source: filled(text('i.source')),
    first_date: sorted(date('s.first_date')),
    last_date: sorted(date('s.last_date')),
    active: boolean('i.active'),
    last_updated: sorted(date('s.last_updated')),
  },
  key: ['id'],
  sort: 'id',
};

/** The cities that have prices. Their dates are the ends of each combination's points, found by index. */
export const cityList: List = {
  name: 'commodity-cities',
  datasets: ['commodity-cities', 'commodity-prices', 'observations'],
  from: `data.commodity_cities c left join (
    select d.dims ->> 'city' as city_id, min(ends.first_date) as first_date, max(ends.last_date) as last_date,
      max(s.last_updated) as last_updated
    from data.commodity_items i join data.series s using (series_no) join data.series_dims d using (series_no), lateral (
      select min(o.date) as first_date, max(o.date) as last_date from data.observations o
      where o.line_no = d.line_no and o.superseded_on = 'infinity') ends
    group by d.dims ->> 'city') prices using (city_id)`,
  fields: {
    id: sorted(filled(text('city_id'))),
    name: sorted(filled(text('c.name'))),
    province: sorted(text('c.province')),
    latitude: number('c.latitude'),
    longitude: number('c.longitude'),
    first_date: sorted(date('prices.first_date')),
    last_date: sorted(date('prices.last_date')),
    last_updated: sorted(date('prices.last_updated')),
  },
  key: ['id'],
  sort: 'id',
};

/** The ids of all items, to suggest one for a mistyped id. They are few. */
export async function listItemIds(database: Queryable): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    'select item_id as id from data.commodity_items order by 1',
    [],
    'commodity_item_ids',
  );
  return rows.map(({ id }) => id);
}

/** id → name of all cities. */
export async function listCityNames(database: Queryable): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ id: string; name: string }>(
    'select city_id as id, name from data.commodity_cities order by 1',
    [],
    'commodity_city_names',
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
