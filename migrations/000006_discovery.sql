-- What discovery reads: the release calendar, and one table of everything that can be searched. The tables that are searched keep their
-- entries by triggers, a statement at a time: they give the plain columns, and what search needs is derived from them.

-- What has the same source and the same publication, which is the title unless it is given, is one release that comes out again and again.
create table data.releases (
  release_id text primary key check (length(release_id) between 1 and 200),
  title      text not null check (length(title) between 1 and 500),
  source     text not null check (length(source) between 1 and 500),                 -- spelled as in data.series
  release_at timestamptz not null,                                                   -- midnight where only the day is known
  time_zone  text not null check (length(time_zone) between 1 and 64),               -- the publisher's, an IANA name
  time_confirmed   boolean,                                                          -- null: unless it is midnight
  reference_period text check (length(reference_period) between 1 and 100),          -- what it is about, such as 2026-10
  frequency  text check (frequency in
             ('daily', 'weekly', 'monthly', 'quarterly', 'semiannual', 'annual', 'irregular')),
  kind       text check (kind in ('new', 'revised')),
  status     text check (status in ('scheduled', 'released', 'delayed', 'cancelled')), -- null: by the clock
  importance text check (importance in ('low', 'medium', 'high')),
  series_ids text[] not null default '{}',                                           -- what it brings; the loads check that they exist
  url        text check (url ~ '^https?://' and length(url) <= 2000),
  -- An entry of the calendar is one date of a release that comes out again and again. What has the same source and the same publication,
  -- which is the title unless it is given, is one release.
  publication text check (length(publication) between 1 and 500)
);
comment on table data.releases is
  'A row is a date of the release calendar: when a publisher releases what. A load of its file replaces it; calendars have no vintages.';
create index releases_by_time on data.releases (release_at, release_id);
create index releases_by_series on data.releases using gin (series_ids);
create index releases_by_publication on data.releases (coalesce(publication, title), release_at);

-- A series shows when it is released next: a change of its date is a change of the series.
create function data.change_released_series() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    update data.series set updated_at = now(), row_version = row_version + 1
    where series_id in (select unnest(series_ids) from new_rows);
  elsif tg_op = 'DELETE' then
    update data.series set updated_at = now(), row_version = row_version + 1
    where series_id in (select unnest(series_ids) from old_rows);
  else
    update data.series set updated_at = now(), row_version = row_version + 1
    where series_id in (select unnest(series_ids) from old_rows union select unnest(series_ids) from new_rows);
  end if;
  return null;
end $$;
create trigger change_series_of_new_releases after insert on data.releases
  referencing new table as new_rows for each statement execute function data.change_released_series();
create trigger change_series_of_changed_releases after update on data.releases
  referencing old table as old_rows new table as new_rows for each statement
  execute function data.change_released_series();
create trigger change_series_of_gone_releases after delete on data.releases
  referencing old table as old_rows for each statement execute function data.change_released_series();

-- English endings are taken off (prices is price), and no word is too common to be found.
create text search dictionary data.english_endings (template = pg_catalog.snowball, language = english);

create text search configuration data.english (copy = pg_catalog.simple);

alter text search configuration data.english alter mapping for asciiword, word with data.english_endings;

-- The same text as before in less time: translate() compares every letter with all 32 signs. Not strict, so that
-- PostgreSQL takes it into the statement that calls it; null gives null all the same. A new series costs 43 µs instead
-- of 53, search included (measured 2026-11-20).
create function data.search_text(text) returns text language sql immutable parallel safe return
  regexp_replace(
    case when octet_length($1) = length($1) then lower($1)
      else regexp_replace(lower(normalize($1, nfd)), '[\u0300-\u036f]+', '', 'g') end,
    '[!-/:-@[-`{-~]', ' ', 'g');

-- There is no foreign key: triggers keep the entries, and a check per row would slow every load of series.
create table data.search_entries (
  entry_no    integer generated always as identity primary key,
  type        text not null check (type in ('series', 'fund', 'amc', 'security', 'commodity')),
  id          text not null,       -- as in the path of the resource
  name        text not null,
  unit        text,
  frequency   text,
  source      text,
  category    text,
  facts       text not null,       -- other short texts to be found by: geography, tags, former names …
  description text,
  series_no   integer,             -- of a series or a commodity
  id_text     text not null,       -- from here on derived by data.derive_search_words
  name_text   text not null,
  words       tsvector not null,   -- A: id and name, each word as it is and without its ending · B: all else
  -- and `type:fund`, `category:prices`, …, which no text has, for filters
  unique (type, id)
);
comment on table data.search_entries is
  'A row is something that search can find, whatever its kind.';
create index search_entries_by_id on data.search_entries (id_text collate "C");
create index search_entries_by_name on data.search_entries (name_text collate "C");
create index search_entries_by_series on data.search_entries (series_no) where series_no is not null;
create index search_entries_by_word on data.search_entries using gin (words);

create function data.derive_search_words() returns trigger language plpgsql as $$
declare
  title text;
begin
  new.id_text := data.search_text(new.id);
  new.name_text := data.search_text(new.name);
  title := new.id_text || ' ' || new.name_text;
  new.words := setweight(to_tsvector('pg_catalog.simple', title) || to_tsvector('data.english', title), 'A')
    || setweight(to_tsvector('data.english', data.search_text(
         concat_ws(' ', new.facts, new.source, new.category, left(new.description, 2000)))), 'B')
    || array_to_tsvector(array_remove(array['type:' || new.type, 'frequency:' || new.frequency,
         'source:' || new.source, 'category:' || new.category], null));
  return new;
end $$;
create trigger derive_search_words before insert or update on data.search_entries
  for each row execute function data.derive_search_words();

-- A correction to a word without an entry finds nothing, as the query itself did. near holds the word, and the word without any one of its
-- letters: two words have one of these in common if they differ by a letter added, left out, replaced, or exchanged with the next.
create table data.search_terms (
  word text collate "C" primary key,
  near text[] not null
);
comment on table data.search_terms is
  'A row is a word of ids and names, for queries with a typing error. It stays when the last entry with it goes.';
create index search_terms_near on data.search_terms using gin (near);
create index search_terms_alike on data.search_terms using gin (word gin_trgm_ops);

create function data.near_spellings(word text) returns text[] language sql immutable strict parallel safe return
  array(select word union select overlay(word placing '' from i for 1) from generate_series(1, length(word)) i);

create function data.collect_search_terms() returns trigger language plpgsql as $$
begin
  insert into data.search_terms (word, near)
  select word, data.near_spellings(word)
  from (select distinct string_to_table(id_text || ' ' || name_text, ' ') collate "C" as word from new_rows) words
  where length(word) between 4 and 40 and word !~ '[0-9]'
    and not exists (select from data.search_terms known where known.word = words.word)
  on conflict do nothing;
  return null;
end $$;
create trigger collect_search_terms_of_new after insert on data.search_entries
  referencing new table as new_rows for each statement execute function data.collect_search_terms();
create trigger collect_search_terms_of_changed after update on data.search_entries
  referencing new table as new_rows for each statement execute function data.collect_search_terms();

-- A series is also found by the values of its dimensions and by their labels: EUR finds the exchange rates. Of a series with very many
-- values, some are enough: whoever searches for one of ten thousand codes knows its series.
create function data.searched_dimensions(integer) returns text language sql stable return (
  select left(string_agg(word, ' '), 8000) from (
    select word from (
      select v.value as word from data.series_dims d, jsonb_each_text(d.dims) v where d.series_no = $1
      union
      select l.label from data.dimension_labels l where l.series_no = $1) words
    order by word limit 500) taken);

-- A series is an entry of its own, unless it holds the prices of a commodity: then the commodity is.
create function data.enter_series(integer[]) returns void language sql as $$
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

create function data.search_new_series() returns trigger language plpgsql as $$
begin
  perform data.enter_series(array(select series_no from new_rows));
  return null;
end $$;
create trigger search_new_series after insert on data.series
  referencing new table as new_rows for each statement execute function data.search_new_series();

-- Loads of observations change the counts of series, which search does not show.
create function data.search_changed_series() returns trigger language plpgsql as $$
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
create trigger search_changed_series after update on data.series
  referencing old table as old_rows new table as new_rows for each statement
  execute function data.search_changed_series();

create function data.search_gone_series() returns trigger language plpgsql as $$
begin
  delete from data.search_entries e using old_rows o where e.series_no = o.series_no;
  return null;
end $$;
create trigger search_gone_series after delete on data.series
  referencing old table as old_rows for each statement execute function data.search_gone_series();

create function data.search_commodities() returns trigger language plpgsql as $$
begin
  delete from data.search_entries e using new_rows n where e.series_no = n.series_no and e.type = 'series';
  perform data.enter_series(array(select series_no from new_rows));
  return null;
end $$;
create trigger search_new_commodities after insert on data.commodity_items
  referencing new table as new_rows for each statement execute function data.search_commodities();
create trigger search_changed_commodities after update on data.commodity_items
  referencing new table as new_rows for each statement execute function data.search_commodities();

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

-- Search finds a security by its codes, its ISIN, its names, past ones too, and its issuer.
create function data.search_securities() returns trigger language plpgsql as $$
begin
  insert into data.search_entries (type, id, name, unit, source, category, facts)
  select 'security', code, name, currency, source, type,
    concat_ws(' ', source_code, isin, issuer, array_to_string(former_names, ' '), array_to_string(former_codes, ' '))
  from new_rows
  on conflict (type, id) do update set name = excluded.name, unit = excluded.unit, source = excluded.source,
    category = excluded.category, facts = excluded.facts
  where (search_entries.name, search_entries.unit, search_entries.source, search_entries.category, search_entries.facts)
    is distinct from (excluded.name, excluded.unit, excluded.source, excluded.category, excluded.facts);
  return null;
end $$;
create trigger search_new_securities after insert on data.securities
  referencing new table as new_rows for each statement execute function data.search_securities();
create trigger search_changed_securities after update on data.securities
  referencing new table as new_rows for each statement execute function data.search_securities();

-- Search finds a fund by its codes and names, past ones too, and by its manager.
create function data.search_funds() returns trigger language plpgsql as $$
begin
  insert into data.search_entries (type, id, name, unit, source, category, facts, description)
  select 'fund', n.fund_id, n.name, n.currency, n.source, n.category,
    concat_ws(' ', n.short_name, n.symbol, n.isin, n.isin_payout, n.isin_reinvestment, n.source_code,
      array_to_string(n.former_codes, ' '), array_to_string(n.former_names, ' '), n.plan, n.option, a.name),
    n.objective
  from new_rows n left join data.amcs a using (amc_id)
  on conflict (type, id) do update set name = excluded.name, unit = excluded.unit, source = excluded.source,
    category = excluded.category, facts = excluded.facts, description = excluded.description
  where (search_entries.name, search_entries.unit, search_entries.source, search_entries.category, search_entries.facts,
      search_entries.description)
    is distinct from (excluded.name, excluded.unit, excluded.source, excluded.category, excluded.facts,
      excluded.description);
  return null;
end $$;
create trigger search_new_funds after insert on data.funds
  referencing new table as new_rows for each statement execute function data.search_funds();
create trigger search_changed_funds after update on data.funds
  referencing new table as new_rows for each statement execute function data.search_funds();

create function data.search_amcs() returns trigger language plpgsql as $$
begin
  insert into data.search_entries (type, id, name, source, facts)
  select 'amc', amc_id, name, source, concat_ws(' ', short_name, licence_no) from new_rows
  on conflict (type, id) do update set name = excluded.name, source = excluded.source, facts = excluded.facts
  where (search_entries.name, search_entries.source, search_entries.facts)
    is distinct from (excluded.name, excluded.source, excluded.facts);
  return null;
end $$;
create trigger search_new_amcs after insert on data.amcs
  referencing new table as new_rows for each statement execute function data.search_amcs();
create trigger search_changed_amcs after update on data.amcs
  referencing new table as new_rows for each statement execute function data.search_amcs();
