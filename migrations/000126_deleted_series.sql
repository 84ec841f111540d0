-- A deleted series keeps its rows, and is served to nobody until it is restored.
alter table data.series add column deleted_on date;

-- As before, without deleted series.
create or replace function data.enter_series(integer[]) returns void language sql as $$
  insert into data.search_entries (type, id, name, unit, frequency, source, category, facts, description, series_no)
  select 'series', s.series_id, s.name, s.unit, s.frequency, s.source, s.category,
    concat_ws(' ', s.geography, array_to_string(s.tags, ' '),
      (select string_agg(a.alias, ' ' order by a.alias) from data.series_aliases a where a.series_no = s.series_no),
      case when s.dimensions <> '{}' then data.searched_dimensions(s.series_no) end), s.description, s.series_no
  from data.series s
  where s.series_no = any($1) and s.deleted_on is null
    and not exists (select from data.commodity_items i where i.series_no = s.series_no)
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

-- As before; a deleted series has no entry.
create or replace function data.search_changed_series() returns trigger language plpgsql as $$
declare
  changed integer[] := array(
    select n.series_no from new_rows n join old_rows o using (series_no)
    where (n.series_id, n.name, n.unit, n.frequency, n.source, n.category, n.geography, n.tags, n.description, n.deleted_on)
      is distinct from
      (o.series_id, o.name, o.unit, o.frequency, o.source, o.category, o.geography, o.tags, o.description, o.deleted_on));
begin
  if cardinality(changed) > 0 then
    update data.search_entries e set id = n.series_id from new_rows n
    where e.series_no = n.series_no and n.series_no = any(changed) and e.type = 'series' and e.id <> n.series_id;
    delete from data.search_entries e using new_rows n
    where e.series_no = n.series_no and n.series_no = any(changed) and n.deleted_on is not null;
    perform data.enter_series(changed);
  end if;
  return null;
end $$;
