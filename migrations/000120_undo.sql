-- Loads can be retracted: for that, it is kept what each load states, also where another load states the same or corrects it.

-- A load is in force from its vintage on, except on the days of out_of_force: from its retraction until that is itself retracted.
-- The as-of table of a series at D is the fold of the loads that are in force at D (docs/decisions/0013-undo.md).
alter table data.loads
  add column part_of      bigint,                              -- the first load of the same file; null: it is the file's only load
  add column retracts     bigint references data.loads,        -- it is a retraction of that load
  add column erases       boolean not null default false,      -- the retraction took the load out of the history too
  add column out_of_force datemultirange not null default '{}',
  add column erased_by    bigint references data.loads,        -- nothing that it stated is known any more
  add column reason       text check (length(reason) between 1 and 1000),
  add column keeps_statements boolean not null default false;  -- all that it states is on record; false: it is of an older version

-- What a load stated of a point where neither a row of data.observations that it began nor data.confirmations says so:
-- the value was corrected within its day, or the row was merged with an equal one. states is false: it deleted the point.
create table data.statements (
  series_no    integer not null,
  dims_no      integer not null,
  date         date    not null,
  published_on date    not null,
  load_no      bigint  not null references data.loads,
  states       boolean not null,
  value        numeric check (value > '-infinity' and value < 'infinity'),
  status       text check (length(status) <= 16),
  primary key (series_no, dims_no, date, published_on, load_no),
  foreign key (series_no, dims_no) references data.series_dims on delete cascade,
  check (states or (value is null and status is null))
);

-- What operators undid or changed, and why. Rows are only added.
create table data.audit_events (
  event_no bigint generated always as identity primary key,
  at       timestamptz not null default now(),
  actor    text not null check (length(actor) between 1 and 200),  -- the program, and the role of the database it used
  action   text not null check (length(action) between 1 and 64),  -- load.retracted, series.renamed …
  subject  text not null check (length(subject) between 1 and 200), -- the number of a load, or the id of a series
  load_no  bigint references data.loads,
  reason   text check (length(reason) between 1 and 1000),
  details  jsonb not null default '{}' check (jsonb_typeof(details) = 'object')
);
