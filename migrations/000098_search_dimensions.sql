-- A series is also found by the values of its dimensions and by their labels: EUR finds the exchange rates. Of a series with very many
-- values, some are enough: whoever searches for one of ten thousand codes knows its series.
create function data.searched_dimensions(integer) returns text language sql stable return (
  select left(string_agg(word, ' '), 8000) from (
    select word from (
      select v.value as word from data.series_dims d, jsonb_each_text(d.dims) v where d.series_no = $1
      union
      select l.label from data.dimension_labels l where l.series_no = $1) words
    order by word limit 500) taken);

create or replace function data.enter_series(integer[]) returns void language sql as $$
  insert into data.search_entries (type, id, name, unit, frequency, source, category, facts, description, series_no)
  select 'series', s.series_id, s.name, s.unit, s.frequency, s.source, s.category,
    concat_ws(' ', s.geography, array_to_string(s.tags, ' '),
      case when s.dimensions <> '{}' then data.searched_dimensions(s.series_no) end), s.description, s.series_no
  from data.series s
  where s.series_no = any($1) and not exists (select from data.commodity_items i where i.series_no = s.series_no)
  on conflict (type, id) do update set name = excluded.name, unit = excluded.unit, frequency = excluded.frequency,
    source = excluded.source, category = excluded.category, facts = excluded.facts,
    description = excluded.description, series_no = excluded.series_no;
  insert into data.search_entries (type, id, name, unit, frequency, source, category, facts, description, series_no)
  select 'commodity', i.item_id, i.name, i.unit, s.frequency, s.source, i.category,
    concat_ws(' ', s.series_id, i.name_local, i.coicop, 'price', s.geography, array_to_string(s.tags, ' ')),
    s.description, s.series_no
  from data.commodity_items i join data.series s using (series_no)
  where i.series_no = any($1)
  on conflict (type, id) do update set name = excluded.name, unit = excluded.unit, frequency = excluded.frequency,
    source = excluded.source, category = excluded.category, facts = excluded.facts,
    description = excluded.description, series_no = excluded.series_no
$$;

-- Commodities are left alone: their dimension is the city, which has an endpoint of its own.
create function data.search_dimensions() returns trigger language plpgsql as $$
declare
  changed integer[] := array(
    select distinct s.series_no from changed_rows c join data.series s using (series_no)
    where s.dimensions <> '{}' and not exists (select from data.commodity_items i where i.series_no = s.series_no));
begin
  if cardinality(changed) > 0 then
    perform data.enter_series(changed);
  end if;
  return null;
end $$;
create trigger search_new_dims after insert on data.series_dims
  referencing new table as changed_rows for each statement execute function data.search_dimensions();
create trigger search_new_labels after insert on data.dimension_labels
  referencing new table as changed_rows for each statement execute function data.search_dimensions();
create trigger search_changed_labels after update on data.dimension_labels
  referencing new table as changed_rows for each statement execute function data.search_dimensions();

select data.enter_series(array(select series_no from data.series s where s.dimensions <> '{}'
  and not exists (select from data.commodity_items i where i.series_no = s.series_no)));
