-- Commodity items and their markets. The prices are observations of one series per item, `commodity.<item_id>`, with the dimensions city, price_type
-- and stat, so that vintages, transforms and paging are those of series.

create table data.commodity_items (
  item_id   text primary key check (item_id ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(item_id) <= 80),
  series_no integer not null unique references data.series,                         -- made by the trigger below
  name          text not null check (length(name) between 1 and 200),
  name_local    text check (length(name_local) between 1 and 200),
  category      text check (length(category) between 1 and 200),
  unit          text not null check (length(unit) between 1 and 80),                -- as published: '1 Kg', '20 Kg bag', 'Dozen'
  unit_quantity numeric check (unit_quantity > 0 and unit_quantity < 'infinity'),   -- 20 of '20 Kg bag'
  unit_measure  text check (length(unit_measure) between 1 and 40),                 -- Kg of '20 Kg bag'
  currency      text not null check (currency ~ '^[A-Z]{3}$'),                      -- ISO 4217
  coicop        text check (coicop ~ '^[0-9]{2}(\.[0-9]{1,2}){0,4}$'),              -- such as 01.1.1.1
  frequency     text not null,                                                      -- of the prices; checked by data.series
  source        text not null,
  active        boolean,                                                            -- whether prices are still published
  row_no        bigint,
  load_no       bigint                                                              -- null: made by a load of prices
);
comment on table data.commodity_items is
  'A row is a priced item. Its prices are the observations of the series commodity.<item_id>.';

create table data.commodity_cities (
  city_id   text primary key check (city_id ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(city_id) <= 80 and city_id <> 'national'), -- the average of the cities has that name
  name      text not null check (length(name) between 1 and 200),
  province  text check (length(province) between 1 and 200),
  latitude  numeric check (latitude between -90 and 90),
  longitude numeric check (longitude between -180 and 180),
  created_at timestamptz not null default now(),
  row_no     bigint,
  load_no    bigint                                       -- null: made by a load of prices
);
comment on table data.commodity_cities is
  'A row is a city in which prices are collected.';

-- The series of an item has the metadata of the item.
create function data.keep_commodity_series() returns trigger language plpgsql as $$
begin
  insert into data.series (series_id, name, unit, frequency, source, category, dimensions)
  values ('commodity.' || new.item_id, new.name, new.currency || ' per ' || new.unit, new.frequency, new.source,
    new.category, '{city,price_type,stat}')
  on conflict (series_id) do update set name = excluded.name, unit = excluded.unit, frequency = excluded.frequency,
    source = excluded.source, category = excluded.category, updated_at = now(),
    row_version = data.series.row_version + 1
  returning series_no into new.series_no;
  return new;
end $$;
create trigger keep_commodity_series before insert or update on data.commodity_items
  for each row execute function data.keep_commodity_series();

create function data.change_priced_series() returns trigger language plpgsql as $$
begin
  update data.series s set updated_at = now(), row_version = s.row_version + 1
  from data.commodity_items i where i.series_no = s.series_no and exists (select from new_rows);
  return null;
end $$;
create trigger change_series_of_cities after update on data.commodity_cities
  referencing new table as new_rows for each statement execute function data.change_priced_series();
