-- Schema embargo: loads that become visible at an instant, and their files until then. No role of a service that answers calls may read it.

create schema embargo;

-- A load under embargo, which is called a release. Its file was checked when it was accepted; it is loaded when it is due, and not before.
create table embargo.releases (
  release_no  bigint generated always as identity primary key,
  state       text not null default 'pending' check (state in ('pending', 'released', 'failed', 'cancelled')),
  release_at  timestamptz,                                                  -- null: when the calendar says
  calendar_id text check (length(calendar_id) between 1 and 200),           -- of data.releases, from which it may vanish
  dataset     text not null check (length(dataset) between 1 and 64),
  source_name text not null check (length(source_name) <= 1024),
  options     jsonb not null check (jsonb_typeof(options) = 'object'),      -- of the load, as they were checked
  lead_ms     integer not null check (lead_ms between 0 and 86400000),      -- how long before its instant the load begins
  file_bytes  bigint not null check (file_bytes >= 0),                      -- as it was given
  file_sha256 text not null check (file_sha256 ~ '^[0-9a-f]{64}$'),
  checked     jsonb not null check (jsonb_typeof(checked) = 'object'),      -- the report of the check
  created_at  timestamptz not null,
  due_at      timestamptz,                                                  -- of one that was released: the instant it was due at
  ended_at    timestamptz,
  outcome     jsonb check (jsonb_typeof(outcome) = 'object'),               -- what was loaded, or why it failed
  constraint releases_instant_check check ((release_at is null) <> (calendar_id is null)),
  constraint releases_end_check check ((state = 'pending') = (ended_at is null)),
  constraint releases_due_check check ((state = 'released') = (due_at is not null)),
  constraint releases_outcome_present_check check ((state in ('released', 'failed')) = (outcome is not null))
);
create index releases_open on embargo.releases (release_no) where state in ('pending', 'failed');

-- The file of a release in pieces of a gzip stream, until it is released or cancelled.
create table embargo.pieces (
  release_no bigint not null references embargo.releases on delete cascade,
  position   integer not null check (position >= 0),
  bytes      bytea not null check (octet_length(bytes) between 1 and 1048576),
  primary key (release_no, position)
);
-- They are compressed already.
alter table embargo.pieces alter column bytes set storage external;

-- Who did what with a release: append-only.
create table embargo.history (
  release_no bigint not null references embargo.releases on delete cascade,
  entry_no   bigint generated always as identity primary key,
  at         timestamptz not null,
  event      text not null check (event in ('accepted', 'hastened', 'cancelled', 'released', 'failed')),
  actor      text not null check (length(actor) between 1 and 500),
  detail     text check (length(detail) between 1 and 500)
);
create index history_of_release on embargo.history (release_no, entry_no);

-- When a process that makes releases was last at work.
create table embargo.publishers (
  instance text primary key check (length(instance) between 1 and 200),
  seen_at  timestamptz not null
);
