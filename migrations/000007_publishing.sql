-- How data is loaded: published files, row statements of loads, and schema embargo with files and URLs that are not public yet. No role of a service
-- that answers calls may read schema embargo: a URL may contain a token.

create table data.published_files (
  publication    text  not null check (publication ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$'), -- `name` of almanac.yml
  path           text  not null check (length(path) between 1 and 2000),             -- below the folder, or a URL
  sheet          text  not null check (length(sheet) <= 200),                        -- of a workbook; '' of any other file
  content_sha256 bytea not null check (length(content_sha256) = 32),
  entry          jsonb not null check (jsonb_typeof(entry) = 'object'),              -- of almanac.yml
  loaded_at      timestamptz not null default now(),
  -- The load of a published file; once it is retracted, almanac publish loads the file again.
  load_no bigint references data.loads,                                              -- the first of the file's loads; null: of an older version, or it had no rows
  primary key (publication, path, sheet)
);
comment on table data.published_files is
  'A row is a file that almanac publish has loaded, as it was then: only what has changed is loaded again, on whatever machine it runs. '
  'It is written in the transaction of the load.';

create table data.audit_events (
  event_no bigint generated always as identity primary key,
  at       timestamptz not null default now(),
  actor    text not null check (length(actor) between 1 and 200),     -- the program, and the role of the database it used
  action   text not null check (length(action) between 1 and 64),     -- load.retracted, series.renamed …
  subject  text not null check (length(subject) between 1 and 200),   -- the number of a load, or the id of a series
  load_no  bigint references data.loads,
  reason   text check (length(reason) between 1 and 1000),
  details  jsonb not null default '{}' check (jsonb_typeof(details) = 'object')
);
comment on table data.audit_events is
  'A row is something that an operator undid or changed in the data, and why. Rows are only added.';

-- A deleted row keeps its number if it is restored. load_no is the load that last changed the row. Both are null until a load changes it.
create sequence data.row_nos;

create table data.replaced_rows (
  row_no      bigint not null,
  load_no     bigint,                                                     -- the load that wrote this state; null: an older version of Almanac
  replaced_by bigint not null references data.loads,
  content     jsonb  not null check (jsonb_typeof(content) = 'object'),   -- its cells by column
  primary key (row_no, replaced_by)
);
comment on table data.replaced_rows is
  'A row is what a row of another table was before a load changed or deleted it.';
create index replaced_rows_by_load on data.replaced_rows (load_no);
-- For the content of tables on an earlier day: the rows that later loads replaced.
create index replaced_rows_by_replacing on data.replaced_rows (replaced_by);

create table data.row_statements (
  load_no bigint not null references data.loads,
  rows    int8range not null check (not isempty(rows)),
  primary key (load_no, rows)
);
comment on table data.row_statements is
  'A row is a range of row numbers whose rows a load states again without changing them.';
create index row_statements_by_row on data.row_statements using gist (rows);

create table data.absent_rows (
  row_no  bigint primary key,
  dataset text  not null check (length(dataset) between 1 and 64),
  key     jsonb not null check (jsonb_typeof(key) = 'array'),
  unique (dataset, key)
);
comment on table data.absent_rows is
  'A row is the key and number of a row that is gone. If it comes back, it has the same number again.';

create schema embargo;

create table embargo.releases (
  release_no  bigint generated always as identity primary key,
  state       text not null default 'pending' check (state in ('pending', 'released', 'failed', 'cancelled')),
  release_at  timestamptz,                                               -- null: at the date in the calendar
  calendar_id text check (length(calendar_id) between 1 and 200),        -- of data.releases; the entry may be deleted there
  dataset     text not null check (length(dataset) between 1 and 64),
  source_name text not null check (length(source_name) <= 1024),
  options     jsonb not null check (jsonb_typeof(options) = 'object'),   -- of the load, as they were checked
  lead_ms     integer not null check (lead_ms between 0 and 86400000),   -- how long before its instant the load begins
  file_bytes  bigint not null check (file_bytes >= 0),                   -- as it was given
  file_sha256 text not null check (file_sha256 ~ '^[0-9a-f]{64}$'),
  checked     jsonb not null check (jsonb_typeof(checked) = 'object'),   -- the report of the check
  created_at  timestamptz not null,
  due_at      timestamptz,                                               -- of one that was released: the instant it was due at
  ended_at    timestamptz,
  outcome     jsonb check (jsonb_typeof(outcome) = 'object'),            -- what was loaded, or why it failed
  constraint releases_instant_check check ((release_at is null) <> (calendar_id is null)),
  constraint releases_end_check check ((state = 'pending') = (ended_at is null)),
  constraint releases_due_check check ((state = 'released') = (due_at is not null)),
  constraint releases_outcome_present_check check ((state in ('released', 'failed')) = (outcome is not null))
);
comment on table embargo.releases is
  'A row is a release: a load under embargo. Its file was checked when it was accepted, and is loaded when it is due, not before.';
create index releases_open on embargo.releases (release_no) where state in ('pending', 'failed');

create table embargo.pieces (
  release_no bigint not null references embargo.releases on delete cascade,
  position   integer not null check (position >= 0),
  bytes      bytea not null check (octet_length(bytes) between 1 and 1048576),
  primary key (release_no, position)
);
comment on table embargo.pieces is
  'A row is a piece of the gzip stream of the file of a release, until it is released or cancelled.';
-- The pieces are already compressed.
alter table embargo.pieces alter column bytes set storage external;

create table embargo.history (
  release_no bigint not null references embargo.releases on delete cascade,
  entry_no   bigint generated always as identity primary key,
  at         timestamptz not null,
  event      text not null check (event in ('accepted', 'hastened', 'cancelled', 'released', 'failed')),
  actor      text not null check (length(actor) between 1 and 500),
  detail     text check (length(detail) between 1 and 500)
);
comment on table embargo.history is
  'A row is something that was done with a release, and by whom. Rows are only added.';
create index history_of_release on embargo.history (release_no, entry_no);

create table embargo.publishers (
  instance text primary key check (length(instance) between 1 and 200),
  seen_at  timestamptz not null
);
comment on table embargo.publishers is
  'A row is a process that makes releases, and when it was last at work.';

create table embargo.sources (
  name          text primary key check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$'),
  publication   text not null check (length(publication) between 1 and 80),   -- of almanac.yml
  url           text not null check (length(url) <= 2048 and url ~ '^https?://'),
  sheet         text not null check (length(sheet) <= 500),                   -- '' unless it is a workbook
  entry         jsonb not null check (jsonb_typeof(entry) = 'object'),        -- of almanac.yml: how the file is loaded
  schedule      text not null check (length(schedule) between 1 and 64),
  registered_at timestamptz not null,
  fetch_at      timestamptz not null,                                         -- the next fetch; after a failure earlier than by the schedule
  lease         uuid,                                                         -- of the process that fetches it now
  leased_until  timestamptz,
  etag          text check (length(etag) <= 1024),                            -- of the content with this hash, which is loaded
  last_modified text check (length(last_modified) <= 128),
  content_sha256 text check (content_sha256 ~ '^[0-9a-f]{64}$'),
  fetched_at    timestamptz,                                                  -- the end of the last fetch, successful or not
  changed_at    timestamptz,                                                  -- of the last that was loaded
  failures      integer not null default 0 check (failures >= 0),             -- in a row
  failing_since timestamptz,
  outcome       jsonb check (jsonb_typeof(outcome) = 'object'),               -- of the last fetch
  -- Content of a source that ended the process reading it is not read again until it changes.
  ended_sha256 text check (ended_sha256 ~ '^[0-9a-f]{64}$'),
  constraint sources_place_key unique (publication, url, sheet),
  constraint sources_lease_check check ((lease is null) = (leased_until is null)),
  constraint sources_failing_check check ((failures = 0) = (failing_since is null)),
  constraint sources_fetched_check check ((fetched_at is null) = (outcome is null))
);
comment on table embargo.sources is
  'A row is a source: a URL of almanac.yml with a schedule, which the publisher fetches, and the outcome of the last fetch.';
create index sources_fetch_at on embargo.sources (fetch_at);

-- The public information about sources, without the URL. It is read with the rights of its owner, not of the reader.
create view data.fetched_sources as
  select name,
    case when entry -> 'series' ->> 'source' !~ '[{}]' then entry -> 'series' ->> 'source' end as source,
    schedule, fetched_at, changed_at, failures, fetch_at
  from embargo.sources;

create table embargo.uploads (
  upload_id   uuid primary key,
  account_id  text not null check (length(account_id) between 1 and 64),    -- of the operator
  name        text not null check (length(name) between 1 and 200),         -- a label: never used for lookups
  publication text not null check (length(publication) between 1 and 80),   -- read with the layout of earlier loads of this name
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  bytes       bigint check (bytes >= 0),                                    -- null until all of it has arrived
  sha256      text check (sha256 ~ '^[0-9a-f]{64}$'),
  tables      jsonb check (jsonb_typeof(tables) = 'array'),                 -- the tables found in it
  published   integer[] not null default '{}',                              -- the positions of the tables that were published
  constraint uploads_arrived_check check ((bytes is null) = (sha256 is null)),
  constraint uploads_tables_present_check check (tables is null or bytes is not null)
);
comment on table embargo.uploads is
  'A row is a file that an operator sent to the API. Nobody else sees it before it is published.';
create index uploads_expires_at on embargo.uploads (expires_at);
create index uploads_of_account on embargo.uploads (account_id);

create table embargo.upload_pieces (
  upload_id uuid not null references embargo.uploads on delete cascade,
  position  integer not null check (position >= 0),
  bytes     bytea not null check (octet_length(bytes) between 1 and 1048576),
  primary key (upload_id, position)
);
comment on table embargo.upload_pieces is
  'A row is a piece of the gzip stream of an uploaded file.';
-- The pieces are already compressed.
alter table embargo.upload_pieces alter column bytes set storage external;

-- A release under embargo is never late: when its preparation begins, the holder of the load lock is interrupted, and starts again afterwards.

create table embargo.interruptions (
  release_no  bigint not null references embargo.releases on delete cascade,
  transaction text not null check (transaction ~ '^[0-9]+/[0-9]+$'),  -- the virtual transaction that was interrupted, as pg_locks names it
  at          timestamptz not null default clock_timestamp(),
  primary key (release_no, transaction)
);
comment on table embargo.interruptions is
  'A row is a transaction that a release has interrupted because it held the load lock. The process that ran it finds the reason here. Kept for a day.';
create index interruptions_transaction on embargo.interruptions (transaction);

-- Ends only the connection that holds the load lock (load-lock.sql.ts) in this transaction. It runs as the owner, whose commands also load:
-- the publisher's role may not end the owner's connections.
create function embargo.end_load(held_by text) returns boolean language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  select coalesce(bool_or(pg_terminate_backend(pid)), false) from pg_locks
  where locktype = 'advisory' and classid = 0 and objid = 4115202 and objsubid = 1 and granted and virtualtransaction = held_by
    and database = (select oid from pg_database where datname = current_database())
$$;
revoke execute on function embargo.end_load(text) from public;
