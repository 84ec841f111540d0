-- Schema data: what data-api serves and ingest writes; accounts-api never reads it. This file: loads, series, their observations and vintages.

create schema data;

create extension if not exists pg_trgm;

-- A load is visible from its vintage on, except on the days of out_of_force: from its retraction until that retraction is retracted. The as-of table
-- of a series at D is the fold of the loads visible at D (docs/decisions/0013-undo.md).
create table data.loads (
  load_no     bigint generated always as identity primary key,
  dataset     text not null check (length(dataset) between 1 and 64),
  source_name text not null check (length(source_name) <= 1024),   -- the file's name, or '-' for standard input
  vintage     date not null,                                       -- published_on of its data
  complete    boolean not null,                                    -- --full: whatever is missing from the file is deleted
  loaded_at   timestamptz not null default now(),
  rows_read   bigint not null default 0,
  points_new  bigint not null default 0,
  points_revised   bigint not null default 0,
  points_unchanged bigint not null default 0,
  points_deleted   bigint not null default 0,
  rows_rejected    bigint not null default 0,
  part_of      bigint,                                             -- the first load of the same file; null: it is the file's only load
  retracts     bigint references data.loads,                       -- it is a retraction of that load
  erases       boolean not null default false,                     -- the retraction also removed the load from the history
  out_of_force datemultirange not null default '{}',
  erased_by    bigint references data.loads,                       -- nothing that it stated is known any more
  reason       text check (length(reason) between 1 and 1000),
  keeps_statements boolean not null default false,                 -- all that it states is on record; false: it is of an older version
  -- Null for older rows. The account is a setting of the transaction, so that everything it loads is recorded with it.
  loaded_by text
              default concat_ws(' ', session_user, 'from', coalesce(host(inet_client_addr()), 'this machine'),
                'by ' || nullif(current_setting('application_name'), ''), 'for ' || nullif(current_setting('almanac.account', true), ''))
              check (length(loaded_by) between 1 and 500),
  -- The columns of these tables that a load states; null for a load of points, of another table, or of an older version.
  states_columns text[]
);
comment on table data.loads is
  'A row is one load of a file, applied whole or not at all. load_no is the version of the data: it only grows, and readers may pin it.';
-- The state of a list is the last load that changed one of its datasets.
create index loads_that_changed on data.loads (dataset, load_no)
  where points_new + points_revised + points_deleted > 0;

-- A load updates the row of each series that it changes. Half of each page stays free, so that the new version of a row fits next to it and no
-- index is written. This applies to all of 70,000 updates instead of 3 %: a load of a new point of every series writes 2.9 instead of 4.5 MB of log
-- for 5,000 points, and the table stops growing after the first load instead of growing by half. Measured 2026-11-28, bench scale.
create table data.series (
  series_no  integer generated always as identity primary key,
  series_id  text not null unique check (series_id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
  name       text not null check (length(name) between 1 and 500),
  unit       text check (length(unit) between 1 and 200),                            -- null: nobody has stated it, as of the source
  frequency  text not null check (frequency in
             ('daily', 'weekly', 'monthly', 'quarterly', 'semiannual', 'annual', 'irregular')),
  source     text check (length(source) between 1 and 500),
  description         text check (length(description) <= 10000),
  geography           text check (length(geography) <= 200),
  seasonal_adjustment text check (length(seasonal_adjustment) <= 100),
  unit_multiplier     integer check (unit_multiplier between -30 and 30),            -- a power of ten
  decimals            smallint check (decimals between 0 and 30),
  licence             text check (length(licence) <= 1000),
  attribution         text check (length(attribution) <= 1000),
  fiscal_year_end     text check (fiscal_year_end ~ '^(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'), -- MM-DD, annual series
  tags       text[] not null default '{}',
  category   text check (length(category) <= 500),                                   -- a path, parts divided by /
  dimensions text[] not null default '{}',                                           -- names, in the order of the file that made it
  -- The loads maintain these columns, so that no call has to count.
  first_date date,
  last_date  date,
  observation_count bigint not null default 0,                                       -- live points with a value
  last_updated      date,                                                            -- the newest published_on
  data_version      bigint not null default 0,                                       -- load_no of the last load that changed it
  -- Each statement that changes the row, or data shown with it, increments it. Caches and ETags are valid until then.
  row_version       bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),                                     -- of the metadata
  -- Where the terms of use of a series and its methods can be read.
  licence_url text check (licence_url ~ '^https://[^[:space:]]+$' and length(licence_url) <= 2000),
  methodology_url text check (methodology_url ~ '^https://[^[:space:]]+$' and length(methodology_url) <= 2000),
  -- A deleted series keeps its rows, but is not served until it is restored.
  deleted_on date
) with (fillfactor = 50);
comment on table data.series is
  'A row is a series with its metadata, and the counts that the loads keep so that no call has to count.';
-- A page of the catalogue filtered by one of these is an index range, however many series there are.
create index series_by_category on data.series (category, series_id);
create index series_by_source on data.series (source, series_id);
create index series_by_frequency on data.series (frequency, series_id);
create index series_by_geography on data.series (geography, series_id);

-- Loads assign the numbers, from 1 on, under the load lock. Within a series they ascend in the order in which its combinations arrived.
create table data.series_dims (
  line_no   integer primary key,
  series_no integer not null references data.series on delete cascade,
  dims      jsonb   not null check (jsonb_typeof(dims) = 'object'),
  erased_from date,   -- the first day of values that were erased since: the line was there from then on; null for most
  unique (series_no, dims)
);
comment on table data.series_dims is
  'A row is a line: a combination of dimension values that a series has. A series without dimensions has the one row ''{}''.';

-- The rows of one point never overlap in publication time. A deletion is a row that ends without a successor. A row with superseded_on = published_on
-- was corrected within its own vintage: no vintage shows it, but a reader pinned to an older load does. load_no and superseded_load_no name the loads
-- that began and ended the row: the second time axis, for pinned readers. There are no foreign keys: loads read these numbers from the tables above
-- in the same transaction, and a check per row would cost every load a fifth of its speed. An ended row is rewritten elsewhere. By default its space
-- is reused once a fifth of all rows have been moved: ten loads that each revise 1 % then make the table 5 % larger per row. With a twentieth, a row
-- uses 63.7 bytes, at first 63.6. The eight columns have no gap between them. A ninth would cost eight bytes in each row that has a null, because
-- the null bitmap then needs a second byte. Measured 2026-11-28, bench scale.
create table data.observations (
  line_no       integer not null,
  date          date    not null,                                             -- the last day of the period
  published_on  date    not null,
  superseded_on date    not null default 'infinity',
  load_no       bigint  not null,
  superseded_load_no bigint,
  value         numeric check (value > '-infinity' and value < 'infinity'),   -- NaN is above infinity; null: published as missing
  status        text check (length(status) <= 16),                            -- an observation status code, such as E or P
  check (superseded_on >= published_on),
  check ((superseded_on = 'infinity') = (superseded_load_no is null))
) with (autovacuum_vacuum_scale_factor = 0.05);
comment on table data.observations is
  'A row is a published value: from published_on until the day before superseded_on it was the value of the point (line_no, date). Rows '
  'are only added and ended.';
-- Each row is in exactly one of the two indexes, so a load pays for only one.
create unique index observations_live on data.observations (line_no, date)
  where superseded_on = 'infinity';
create index observations_closed on data.observations (line_no, date, published_on)
  where superseded_on <> 'infinity';
-- The rows that a line published on one day are one range of this index: an old vintage is read without a lookup for each point that was revised
-- since. It contains only closed rows, so a new point costs a load nothing.
create index observations_closed_by_day on data.observations (line_no, published_on, date)
  where superseded_on <> 'infinity';

-- A vintage is the difference between the end of its day and the day before, in whatever order loads arrive. The counts of a day are in the row of
-- its newest load. A complete vintage that changed nothing has a row without counts: it is not listed, but it ends the values of an older vintage
-- that is loaded later.
create table data.vintages (
  series_no    integer not null references data.series on delete cascade,
  published_on date    not null,
  load_no      bigint  not null references data.loads,
  complete     boolean not null,   -- it stated the whole series
  points_new     integer not null default 0,
  points_revised integer not null default 0,
  points_deleted integer not null default 0,
  -- The earliest load whose end of a value this load reverted, within a day: states of the data from that load until this one can no longer be read.
  -- Null for most.
  takes_back bigint,
  primary key (series_no, published_on, load_no)
);
comment on table data.vintages is
  'A row is a vintage of a series that a load brought: the day on which it was published, and the number of points that changed.';

-- Read only by a later load of an older vintage, whose value is valid until the next vintage that stated the point. A run of dates includes dates at
-- which the series had no point then; a backfill that adds one removes its date from the run.
create table data.confirmations (
  line_no      integer not null references data.series_dims on delete cascade,
  published_on date    not null,
  load_no      bigint  not null references data.loads,
  dates        datemultirange not null,
  primary key (line_no, published_on, load_no)
);
comment on table data.confirmations is
  'A row is the dates at which a vintage stated values again without a change. A complete vintage needs no row.';

-- The value was corrected within its day, or the row was merged with an equal one. Retractions read it: a load can be retracted only if everything
-- that it states is recorded.
create table data.statements (
  line_no      integer not null references data.series_dims on delete cascade,
  date         date    not null,
  published_on date    not null,
  load_no      bigint  not null references data.loads,
  states       boolean not null,
  value        numeric check (value > '-infinity' and value < 'infinity'),
  status       text check (length(status) <= 16),
  primary key (line_no, date, published_on, load_no),
  check (states or (value is null and status is null))
);
comment on table data.statements is
  'A row is what a load stated of a point, where neither a row of data.observations that it began nor data.confirmations has it.';

create table data.dimension_labels (
  series_no  integer not null references data.series on delete cascade,
  dimension  text not null check (length(dimension) between 1 and 63),
  value      text not null check (length(value) between 1 and 200),
  label      text not null check (length(label) between 1 and 300),
  primary key (series_no, dimension, value)
);
comment on table data.dimension_labels is
  'A row is the label of a dimension value of a series. It is shown beside the value, never in its place.';

create table data.footnotes (
  series_no integer not null references data.series on delete cascade,
  date      date  not null default '-infinity',                     -- of the point; -infinity: the note is on the series
  dims      jsonb not null default '{}' check (jsonb_typeof(dims) = 'object'),
  mark      text  not null default '' check (length(mark) <= 16),   -- such as 1 or *, as published
  text      text  not null check (length(text) between 1 and 2000),
  primary key (series_no, date, dims, mark)
);
comment on table data.footnotes is
  'A row is a footnote of a series, or of each of its points with this date that includes these dimension values. Footnotes have no '
  'vintages.';

-- No id is both an alias and the id of a series: renames and loads share a lock, and each checks the other's table. A series that was merged
-- into another keeps its row and its history but is no longer served separately. Its ids are aliases of the other series; data published under them
-- before the merge is read from merged_from.
create table data.series_aliases (
  alias      text primary key check (alias ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
  series_no  integer not null references data.series on delete cascade,
  renamed_at timestamptz not null default now(),
  merged_from integer references data.series,   -- the alias was an id of that series; null: an earlier id of its own
  merged_on   date,                             -- as of earlier days it still is
  merged_by   bigint references data.loads,     -- pinned to earlier loads it still is
  constraint series_aliases_merged_check check ((merged_from is null) = (merged_on is null) and (merged_by is null or merged_from is not null))
);
comment on table data.series_aliases is
  'A row is an earlier id of a series that was renamed or merged into another. Who asks for the alias, or loads by it, gets the series.';
create index series_aliases_by_series on data.series_aliases (series_no);

create table data.series_breaks (
  series_no            integer not null references data.series on delete cascade,
  date                 date    not null,                                             -- the first that is in the new unit
  from_unit            text    check (length(from_unit) between 1 and 200),          -- of the points before; null: not known
  from_unit_multiplier integer check (from_unit_multiplier between -30 and 30),
  note                 text    check (length(note) between 1 and 2000),
  declared_on          date    not null,                                             -- earlier vintages do not have the break
  load_no              bigint  not null references data.loads,                       -- nor do earlier loads
  primary key (series_no, date)
);
comment on table data.series_breaks is
  'A row is a break of a series: from this date on its points are in another unit. The unit in data.series is that of the points after '
  'the last break.';

create table data.series_continuations (
  series_no    integer primary key references data.series on delete cascade,
  date         date    not null,                         -- from then on its points are those of the other series
  continued_by integer not null references data.series on delete cascade,
  note         text    check (length(note) between 1 and 2000),
  declared_on  date    not null,                         -- earlier vintages do not have it
  load_no      bigint  not null references data.loads,   -- nor do earlier loads
  constraint series_continuations_check check (continued_by <> series_no)
);
comment on table data.series_continuations is
  'A row is a series that goes on as another one, of another frequency. A series has one frequency, by which its points are dated.';
create index series_continuations_by_successor on data.series_continuations (continued_by);

-- Read for keys that are pinned to a day. Only the first change of a day stores a row: a state between two changes of one day is not the state at any
-- day's end. A load writes it with the change itself, so unchanged rows cost nothing, and no table that grows with the series has a trigger.
create table data.former_facts (
  kind        text    not null check (kind in ('series', 'aliases', 'labels', 'notes')),
  series_no   integer not null references data.series on delete cascade,
  replaced_on date    not null,
  load_no     bigint  references data.loads,                                          -- of the last change of the day; null: a merge
  content     jsonb   not null check (jsonb_typeof(content) in ('object', 'array')),  -- the row; or all rows of the series in that table
  updated_at  timestamptz not null,                                                   -- of the series, before the change
  primary key (kind, series_no, replaced_on)
);
comment on table data.former_facts is
  'A row is what a series said of itself until the day before replaced_on: its metadata, its earlier ids, its labels or its footnotes.';
-- Of a series that was renamed, by its id of then.
create index former_facts_by_id on data.former_facts ((content ->> 'series_id')) where kind = 'series';
