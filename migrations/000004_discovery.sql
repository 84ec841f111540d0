-- What discovery reads: the release calendar, and one table of everything that can be searched.

-- When a publisher releases what. A row is replaced when its file is loaded again: calendars have no vintages.
create table data.releases (
  release_id text primary key check (length(release_id) between 1 and 200),
  title      text not null check (length(title) between 1 and 500),
  source     text not null check (length(source) between 1 and 500),     -- spelled as in data.series
  release_at timestamptz not null,                                       -- midnight where only the day is known
  time_zone  text not null check (length(time_zone) between 1 and 64),   -- the publisher's, an IANA name
  time_confirmed   boolean,                                              -- null: unless it is midnight
  reference_period text check (length(reference_period) between 1 and 100), -- what it is about, such as 2026-10
  frequency  text check (frequency in
             ('daily', 'weekly', 'monthly', 'quarterly', 'semiannual', 'annual', 'irregular')),
  kind       text check (kind in ('new', 'revised')),
  status     text check (status in ('scheduled', 'released', 'delayed', 'cancelled')), -- null: by the clock
  importance text check (importance in ('low', 'medium', 'high')),
  series_ids text[] not null default '{}',                               -- what it brings; the loads check that they exist
  url        text check (url ~ '^https?://' and length(url) <= 2000)
);
create index releases_by_time on data.releases (release_at, release_id);
create index releases_by_series on data.releases using gin (series_ids);

-- A series tells when it is released next: what the calendar says of it is a change of the series.
create function data.change_released_series() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    update data.series set updated_at = now() where series_id in (select unnest(series_ids) from new_rows);
  elsif tg_op = 'DELETE' then
    update data.series set updated_at = now() where series_id in (select unnest(series_ids) from old_rows);
  else
    update data.series set updated_at = now()
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

-- Search: one row for everything that can be found, whatever its kind. The tables that it speaks of keep their rows here
-- by triggers, a whole statement at a time: they give the plain columns, and what search needs is derived from them.

create extension if not exists pg_trgm;

-- English endings are taken off (prices is price), and no word is too common to be found.
create text search dictionary data.english_endings (template = pg_catalog.snowball, language = english);
create text search configuration data.english (copy = pg_catalog.simple);
alter text search configuration data.english alter mapping for asciiword, word with data.english_endings;

-- Text as it is searched: lower case, no accents, blanks for punctuation (PostgreSQL would take GDP.REAL for a host).
create function data.search_text(text) returns text language sql immutable strict parallel safe return
  translate(
    case when octet_length($1) = length($1) then lower($1)
      else regexp_replace(lower(normalize($1, nfd)), '[\u0300-\u036f]+', '', 'g') end,
    '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                ');

-- No foreign key: the triggers below keep the entries of series, and a check per row would slow every load of series.
create table data.search_entries (
  entry_no    integer generated always as identity primary key,
  type        text not null check (type in ('series', 'fund', 'amc', 'security', 'commodity')),
  id          text not null,          -- as in the path of the resource
  name        text not null,
  unit        text,
  frequency   text,
  source      text,
  category    text,
  facts       text not null,          -- other short texts to be found by: geography, tags, former names …
  description text,
  series_no   integer,                -- of a series or a commodity
  id_text     text not null,          -- from here on derived by data.derive_search_words
  name_text   text not null,
  words       tsvector not null,      -- A: id and name, each word as it stands and without its ending · B: all else
                                      -- and `type:fund`, `category:prices`, …, which no text has, for filters
  unique (type, id)
);
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

-- The words of ids and names, for queries with a typing error. Words stay when the last entry with them goes: a
-- correction to such a word finds nothing, as the query itself did.
-- near: the word, and the word without any one of its letters. Two words have one of these in common if they differ by
-- a letter added, left out, replaced, or exchanged with the next.
create table data.search_terms (
  word text collate "C" primary key,
  near text[] not null
);
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

-- A series is an entry of its own, unless it holds the prices of a commodity: then the commodity is.
create function data.enter_series(integer[]) returns void language sql as $$
  insert into data.search_entries (type, id, name, unit, frequency, source, category, facts, description, series_no)
  select 'series', s.series_id, s.name, s.unit, s.frequency, s.source, s.category,
    concat_ws(' ', s.geography, array_to_string(s.tags, ' ')), s.description, s.series_no
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

create function data.search_new_series() returns trigger language plpgsql as $$
begin
  perform data.enter_series(array(select series_no from new_rows));
  return null;
end $$;
create trigger search_new_series after insert on data.series
  referencing new table as new_rows for each statement execute function data.search_new_series();

-- Loads of observations change the counts of series, which search does not speak of.
create function data.search_changed_series() returns trigger language plpgsql as $$
declare
  changed integer[] := array(
    select n.series_no from new_rows n join old_rows o using (series_no)
    where (n.name, n.unit, n.frequency, n.source, n.category, n.geography, n.tags, n.description)
      is distinct from (o.name, o.unit, o.frequency, o.source, o.category, o.geography, o.tags, o.description));
begin
  if cardinality(changed) > 0 then
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

-- What stands already.
select data.enter_series(array(select series_no from data.series));
