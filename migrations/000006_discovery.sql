-- Discovery: the release calendar, and one table of everything that can be searched. A transaction that changes a searchable property of a series
-- calls data.refresh_search. There are no triggers on tables that grow with the series: they would prevent distributing them. Items, securities,
-- funds and their managers are few; triggers maintain their entries, once per statement.

-- Entries with the same source and the same publication, which is the title by default, are dates of one recurring release.
create table data.releases (
  release_id text primary key check (length(release_id) between 1 and 200),
  title      text not null check (length(title) between 1 and 500),
  source     text not null check (length(source) between 1 and 500),                 -- spelled as in data.series
  release_at timestamptz not null,                                                   -- midnight where only the day is known
  time_zone  text not null check (length(time_zone) between 1 and 64),               -- the publisher's, an IANA name
  time_confirmed   boolean,                                                          -- null: unless it is midnight
  reference_period text check (length(reference_period) between 1 and 100),          -- the period that the data describe, such as 2026-10
  frequency  text check (frequency in
             ('daily', 'weekly', 'monthly', 'quarterly', 'semiannual', 'annual', 'irregular')),
  kind       text check (kind in ('new', 'revised')),
  status     text check (status in ('scheduled', 'released', 'delayed', 'cancelled')), -- null: by the clock
  importance text check (importance in ('low', 'medium', 'high')),
  series_ids text[] not null default '{}',                                           -- the series that it publishes; loads check that they exist
  url        text check (url ~ '^https?://' and length(url) <= 2000),
  -- An entry of the calendar is one date of a recurring release. Entries with the same source and the same publication, which is the title by
  -- default, belong to one release.
  publication text check (length(publication) between 1 and 500),
  -- As in 000007_publishing.sql: data.replaced_rows stores the rows that a load replaces, for readers of the calendar as of a past day.
  row_no bigint,
  load_no bigint
);
comment on table data.releases is
  'A row is a date of the release calendar: when a publisher releases what. A load of its file replaces it; calendars have no vintages.';
create index releases_by_time on data.releases (release_at, release_id);
create index releases_by_series on data.releases using gin (series_ids);
create index releases_by_publication on data.releases (coalesce(publication, title), release_at);

-- A series shows its next release date, so a change of that date is a change of the series.
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

-- English endings are removed (prices becomes price), and no word is too common to be found.
create text search dictionary data.english_endings (template = pg_catalog.snowball, language = english);

create text search configuration data.english (copy = pg_catalog.simple);

alter text search configuration data.english alter mapping for asciiword, word with data.english_endings;

-- Faster than the previous version: translate() compares every letter with all 32 signs. Not strict, so that PostgreSQL can inline it into the
-- calling statement; null still gives null. A new series costs 43 µs instead of 53, search included (measured 2026-11-20).
create function data.search_text(text) returns text language sql immutable parallel safe return
  regexp_replace(
    case when octet_length($1) = length($1) then lower($1)
      else regexp_replace(lower(normalize($1, nfd)), '[\u0300-\u036f]+', '', 'g') end,
    '[ !-/:-@[-`{-~]+', ' ', 'g');

-- The catalogue reads its facets from here: counting a million series on each call takes a second.
create table data.facet_counts (
  facet  text    not null check (facet in ('category', 'source', 'frequency', 'geography')),
  value  text    not null,
  series integer not null,
  primary key (facet, value)
);
comment on table data.facet_counts is
  'A row is a value of a facet of the catalogue, and the number of series with it that are not deleted. data.refresh_search keeps it.';
create index facet_counts_most on data.facet_counts (facet, series desc, value);

-- No foreign key: a check per row would slow every load of series.
create table data.search_entries (
  entry_no    integer generated always as identity primary key,
  type        text not null check (type in ('series', 'fund', 'amc', 'security', 'commodity')),
  id          text not null,       -- as in the path of the resource
  name        text not null,
  unit        text,
  frequency   text,
  source      text,
  category    text,
  geography   text,
  facts       text not null,       -- other short texts to be found by: geography, tags, former names …
  description text,
  series_no   integer,             -- of a series or a commodity
  id_text     text not null,       -- from here on derived by data.store_search
  name_text   text not null,
  words       tsvector not null,   -- A: name, and C: id, each word unchanged and without its ending · B: all else
  -- and `:type:fund`, `:category:prices`, …, which no word begins with, for filters
  unique (type, id)
);
comment on table data.search_entries is
  'A row is something that search can find, whatever its kind.';
create index search_entries_by_id on data.search_entries (id_text collate "C");
create index search_entries_by_name on data.search_entries (name_text collate "C");
create index search_entries_by_series on data.search_entries (series_no) where series_no is not null;
create index search_entries_by_word on data.search_entries using gin (words);

-- The searchable properties of an entry. Its other columns are derived from them.
create type data.search_document as (type text, id text, name text, unit text, frequency text, source text, category text, facts text,
  description text, series_no integer, geography text);

-- A category and those above it, as words: an entry is found by each with one lookup in the index.
create function data.category_words(category text) returns text[] language sql immutable parallel safe return array(
  select ':category:' || array_to_string((string_to_array(category, '/'))[:depth], '/')
  from generate_series(1, cardinality(string_to_array(category, '/'))) depth);

create function data.search_words(document data.search_document, id_text text, name_text text) returns tsvector language sql stable return
  setweight(to_tsvector('pg_catalog.simple', name_text) || to_tsvector('data.english', name_text), 'A')
  || setweight(to_tsvector('pg_catalog.simple', id_text) || to_tsvector('data.english', id_text), 'C')
  || setweight(to_tsvector('data.english', data.search_text(
       concat_ws(' ', (document).facts, (document).source, (document).category, left((document).description, 2000)))), 'B')
  || array_to_tsvector(array_remove(array[':type:' || (document).type, ':frequency:' || (document).frequency,
       ':source:' || (document).source] || data.category_words((document).category), null));

-- Whether an entry has a word of the index. Only for rare words: it lists all entries of the word.
create function data.has_search_word(lexeme text) returns boolean language plpgsql stable set enable_seqscan = off as $$
begin
  return exists (select from data.search_entries where words @@ ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery);
end $$;

-- A correction to a word without an entry finds nothing, like the query itself. near contains the word, and the word without any one of its letters:
-- two words share one of these if they differ by one letter that is added, missing, different, or swapped with the next.
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

create function data.collect_search_terms(texts text[]) returns void language sql as $$
  insert into data.search_terms (word, near)
  select word, data.near_spellings(word)
  from (select distinct string_to_table(text, ' ') collate "C" as word from unnest(texts) text) words
  where length(word) between 4 and 40 and word !~ '[0-9]'
    and not exists (select from data.search_terms known where known.word = words.word)
  on conflict do nothing
$$;

create function data.document_of(e data.search_entries) returns data.search_document language sql immutable return
  row(e.type, e.id, e.name, e.unit, e.frequency, e.source, e.category, e.facts, e.description, e.series_no, e.geography)::data.search_document;

-- The facets of added and removed entries. Only series have facets.
create function data.count_facets(come data.search_document[], gone data.search_document[]) returns void language sql as $$
  insert into data.facet_counts as c (facet, value, series)
  select facet, value, sum(step)
  from (select d.*, 1 as step from unnest(come) d union all select d.*, -1 from unnest(gone) d) moved,
    lateral (values ('category', category), ('source', source), ('frequency', frequency), ('geography', geography)) each (facet, value)
  where series_no is not null and value is not null
  group by facet, value having sum(step) <> 0
  on conflict (facet, value) do update set series = c.series + excluded.series;
  delete from data.facet_counts where facet = any('{category,source,frequency,geography}') and series = 0;
$$;

-- Writes every entry that is new or whose document has changed.
create function data.store_search(documents data.search_document[]) returns void language sql as $$
  with changed as materialized (
    select d as document, data.search_text(d.id) as id_text, data.search_text(d.name) as name_text from unnest(documents) d
    where not exists (
      select from data.search_entries e where e.type = d.type and e.id = d.id
        and (e.name, e.unit, e.frequency, e.source, e.category, e.facts, e.description, e.series_no, e.geography)
          is not distinct from (d.name, d.unit, d.frequency, d.source, d.category, d.facts, d.description, d.series_no, d.geography))
  ), counted as (
    select data.count_facets(array(select document from changed), array(
      select data.document_of(e) from changed join data.search_entries e on e.type = (document).type and e.id = (document).id))
  ), stored as (
    insert into data.search_entries (type, id, name, unit, frequency, source, category, facts, description, series_no, geography,
      id_text, name_text, words)
    select (document).*, id_text, name_text, data.search_words(document, id_text, name_text) from changed
    on conflict (type, id) do update set name = excluded.name, unit = excluded.unit, frequency = excluded.frequency,
      source = excluded.source, category = excluded.category, facts = excluded.facts, description = excluded.description,
      series_no = excluded.series_no, geography = excluded.geography, name_text = excluded.name_text, words = excluded.words
    returning id_text || ' ' || name_text as text
  )
  select data.collect_search_terms(array_agg(text)) from stored cross join counted
$$;

-- A series is also found by its dimension values and their labels: EUR finds the exchange rates. Of a series with very many values only some are
-- indexed: a user who searches for one of ten thousand codes knows its series.
create function data.searched_dimensions(integer) returns text language sql stable return (
  select left(string_agg(word, ' '), 8000) from (
    select word from (
      select v.value as word from data.series_dims d, jsonb_each_text(d.dims) v where d.series_no = $1
      union
      select l.label from data.dimension_labels l where l.series_no = $1) words
    order by word limit 500) taken);

-- A series has an entry of its own, unless it contains the prices of a commodity: then the commodity has one. A commodity is not found by its
-- dimension, the city, which has its own endpoint. A deleted series is not found.
create function data.series_documents(series_nos integer[]) returns setof data.search_document language sql stable as $$
  select 'series', s.series_id, s.name, s.unit, s.frequency, s.source, s.category,
    concat_ws(' ', s.geography, array_to_string(s.tags, ' '),
      (select string_agg(a.alias, ' ' order by a.alias) from data.series_aliases a where a.series_no = s.series_no),
      case when s.dimensions <> '{}' then data.searched_dimensions(s.series_no) end), s.description, s.series_no, s.geography
  from data.series s
  where s.series_no = any(series_nos) and s.deleted_on is null
    and not exists (select from data.commodity_items i where i.series_no = s.series_no)
  union all
  select 'commodity', i.item_id, i.name, i.unit, s.frequency, s.source, s.category,
    concat_ws(' ', s.series_id, i.name_local, i.coicop, 'price', s.geography, array_to_string(s.tags, ' ')),
    s.description, s.series_no, s.geography
  from data.commodity_items i join data.series s using (series_no)
  where i.series_no = any(series_nos) and s.deleted_on is null
$$;

-- Call this for every series that is new, deleted or restored, or has other metadata, earlier ids, dimension values or labels: in the same
-- transaction, after the change. It skips series whose entries are up to date. It works in batches, so that the documents of a million
-- series are not in memory at once.
create function data.refresh_search(series_nos integer[]) returns void language plpgsql as $$
declare
  part integer[];
  documents data.search_document[];
  gone data.search_document[];
begin
  for place in 1 .. cardinality(series_nos) by 5000 loop
    part := series_nos[place : place + 4999];
    documents := array(select d from data.series_documents(part) d);
    with deleted as (
      delete from data.search_entries e where e.series_no = any(part)
        and not exists (select from unnest(documents) d where d.type = e.type and d.id = e.id)
      returning data.document_of(e) as document)
    select array_agg(document) into gone from deleted;
    perform data.count_facets('{}', gone);
    perform data.store_search(documents);
  end loop;
end $$;

create function data.search_commodities() returns trigger language plpgsql as $$
begin
  perform data.refresh_search(array(select series_no from new_rows));
  return null;
end $$;
create trigger search_new_commodities after insert on data.commodity_items
  referencing new table as new_rows for each statement execute function data.search_commodities();
create trigger search_changed_commodities after update on data.commodity_items
  referencing new table as new_rows for each statement execute function data.search_commodities();

-- Search finds a security by its codes, its ISIN, its current and former names, and its issuer.
create function data.search_securities() returns trigger language plpgsql as $$
begin
  perform data.store_search(array(
    select row('security', code, name, currency, null, source, type,
      concat_ws(' ', source_code, isin, issuer, array_to_string(former_names, ' '), array_to_string(former_codes, ' ')),
      null, null, null)::data.search_document from new_rows));
  return null;
end $$;
create trigger search_new_securities after insert on data.securities
  referencing new table as new_rows for each statement execute function data.search_securities();
create trigger search_changed_securities after update on data.securities
  referencing new table as new_rows for each statement execute function data.search_securities();

-- Search finds a fund by its codes, its current and former names, and the name of its manager.
create function data.fund_document(fund data.funds, manager text) returns data.search_document language sql stable return
  row('fund', (fund).fund_id, (fund).name, (fund).currency, null, (fund).source, (fund).category,
    concat_ws(' ', (fund).short_name, (fund).symbol, (fund).isin, (fund).isin_payout, (fund).isin_reinvestment, (fund).source_code,
      array_to_string((fund).former_codes, ' '), array_to_string((fund).former_names, ' '), (fund).plan, (fund).option, manager),
    (fund).objective, null, null)::data.search_document;

create function data.search_funds() returns trigger language plpgsql as $$
begin
  perform data.store_search(array(
    select data.fund_document(f, a.name) from new_rows n join data.funds f using (fund_id) left join data.amcs a on a.amc_id = f.amc_id));
  return null;
end $$;
create trigger search_new_funds after insert on data.funds
  referencing new table as new_rows for each statement execute function data.search_funds();
create trigger search_changed_funds after update on data.funds
  referencing new table as new_rows for each statement execute function data.search_funds();

create function data.search_amcs() returns trigger language plpgsql as $$
begin
  perform data.store_search(array(
    select row('amc', amc_id, name, null, null, source, null, concat_ws(' ', short_name, licence_no), null, null, null)::data.search_document
    from new_rows
    union all
    select data.fund_document(f, n.name) from new_rows n join data.funds f using (amc_id)));
  return null;
end $$;
create trigger search_new_amcs after insert on data.amcs
  referencing new table as new_rows for each statement execute function data.search_amcs();
create trigger search_changed_amcs after update on data.amcs
  referencing new table as new_rows for each statement execute function data.search_amcs();
