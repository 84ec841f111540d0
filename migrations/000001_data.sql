-- Schema data: what data-api serves and ingest writes. accounts-api never reads it.

create schema data;

-- One load, whole or not at all. Its number is the version of the data: it only grows, and readers may pin it.
create table data.loads (
  load_no     bigint generated always as identity primary key,
  dataset     text not null check (length(dataset) between 1 and 64),
  source_name text not null check (length(source_name) <= 1024), -- the file's name, or '-' for standard input
  vintage     date not null,                                     -- published_on of what it brought
  complete    boolean not null,                                  -- --full: what the file leaves out is deleted
  loaded_at   timestamptz not null default now(),
  rows_read   bigint not null default 0,
  points_new  bigint not null default 0,
  points_revised   bigint not null default 0,
  points_unchanged bigint not null default 0,
  points_deleted   bigint not null default 0,
  rows_rejected    bigint not null default 0
);

create table data.series (
  series_no  integer generated always as identity primary key,
  series_id  text not null unique check (series_id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
  name       text not null check (length(name) between 1 and 500),
  unit       text not null check (length(unit) between 1 and 200),
  frequency  text not null check (frequency in
             ('daily', 'weekly', 'monthly', 'quarterly', 'semiannual', 'annual', 'irregular')),
  source     text not null check (length(source) between 1 and 500),
  description         text check (length(description) <= 10000),
  geography           text check (length(geography) <= 200),
  seasonal_adjustment text check (length(seasonal_adjustment) <= 100),
  unit_multiplier     integer check (unit_multiplier between -30 and 30), -- a power of ten
  decimals            smallint check (decimals between 0 and 30),
  licence             text check (length(licence) <= 1000),
  attribution         text check (length(attribution) <= 1000),
  fiscal_year_end     text check (fiscal_year_end ~ '^(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$'), -- MM-DD, annual series
  tags       text[] not null default '{}',
  category   text check (length(category) <= 500),             -- a path, parts divided by /
  dimensions text[] not null default '{}',                      -- names, in the order of the file that made it
  -- What follows is kept by the loads, so that no call has to count.
  first_date date,
  last_date  date,
  observation_count bigint not null default 0,                  -- live points with a value
  last_updated      date,                                       -- the newest published_on
  data_version      bigint not null default 0,                  -- load_no of the last load that changed it
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()                 -- of the metadata
);

-- The combinations of dimension values that a series has; a series without dimensions has the one row '{}'.
create table data.series_dims (
  series_no integer not null references data.series on delete cascade,
  dims_no   integer not null,                                   -- 0, 1, 2 … within the series
  dims      jsonb   not null check (jsonb_typeof(dims) = 'object'),
  primary key (series_no, dims_no),
  unique (series_no, dims)
);

-- Every value ever published, append-only. A row says: from published_on until the day before superseded_on, this was
-- the published value of the point (series_no, dims_no, date). The rows of one point never overlap in publication time.
-- A deletion is a row that ends with no successor. A row with superseded_on = published_on was corrected within its
-- own vintage: no vintage shows it, but a reader pinned to an older load still does.
-- load_no and superseded_load_no say which loads began and ended the row: the second time axis, for pinned readers.
-- No foreign keys here: loads take their numbers from the rows above in the same transaction, and a check per row
-- would cost every load a fifth of its speed.
create table data.observations (
  series_no     integer not null,
  dims_no       integer not null,
  date          date    not null,                               -- the last day of the period
  published_on  date    not null,
  superseded_on date    not null default 'infinity',
  load_no       bigint  not null,
  superseded_load_no bigint,
  value         numeric check (value > '-infinity' and value < 'infinity'), -- NaN is above infinity; null: published as missing
  status        text check (length(status) <= 16),              -- an observation status code, such as E or P
  check (superseded_on >= published_on),
  check ((superseded_on = 'infinity') = (superseded_load_no is null))
);

-- Each row stands in exactly one of the two indexes, so a load pays for one.
create unique index observations_live on data.observations (series_no, dims_no, date)
  where superseded_on = 'infinity';
create index observations_closed on data.observations (series_no, dims_no, date, published_on)
  where superseded_on <> 'infinity';

-- The vintages of a series: the days on which it was published anew, and what changed. A complete vintage that changed
-- nothing has a row without counts: it is no vintage to list, but it ends what an older vintage, loaded later, says.
create table data.vintages (
  series_no    integer not null references data.series on delete cascade,
  published_on date    not null,
  load_no      bigint  not null references data.loads,
  complete     boolean not null,                                -- it stated the whole series
  points_new     integer not null default 0,
  points_revised integer not null default 0,
  points_deleted integer not null default 0,
  primary key (series_no, published_on, load_no)
);

-- What a vintage stated again without change. Only a later load of an *older* vintage asks: its value holds until the
-- next vintage that stated the point. dates are the runs of restated points; a complete vintage needs no row.
-- A run passes over dates at which the series had no point then; a backfill that brings one takes its date out.
create table data.confirmations (
  series_no    integer not null,
  dims_no      integer not null,
  published_on date    not null,
  load_no      bigint  not null references data.loads,
  dates        datemultirange not null,
  primary key (series_no, dims_no, published_on, load_no),
  foreign key (series_no, dims_no) references data.series_dims on delete cascade
);
