-- Schema events: data changes and account events, for webhooks. A load and accounts-api write an event in the transaction of its change; the worker
-- of accounts-api turns it into messages to endpoints and deletes it.

create schema events;

-- A new id: 20 characters of base32 from a random UUID. 256 is a multiple of 32, so each character is uniform.
create function events.new_id() returns text language sql volatile as $$
  select 'evt_' || string_agg(substr('abcdefghijklmnopqrstuvwxyz234567', get_byte(random.bytes, place) % 32 + 1, 1), '')
  from (select sha256(uuid_send(gen_random_uuid())) as bytes) random, generate_series(0, 19) place
$$;

create table events.outbox (
  position   bigint generated always as identity primary key,
  id         text not null unique default events.new_id() check (id ~ '^evt_[a-z2-7]{20}$'),
  type       text not null check (type ~ '^[a-z0-9_]+\.[a-z0-9_]+$'),   -- of kernel/events/catalogue.ts
  account_id text references accounts.accounts on delete cascade,       -- null: for every account
  series     text[] check (cardinality(series) between 1 and 250),      -- of an event about series: their ids, sorted
  data       jsonb not null check (jsonb_typeof(data) = 'object'),      -- the delivered `data`, without `series`
  at         timestamptz not null,
  check (account_id is null or series is null)
);
comment on table events.outbox is
  'A row is an event that the worker has not turned into messages yet.';
create index events_outbox_of_account on events.outbox (account_id) where account_id is not null;

create table data.updates (
  position bigint primary key generated always as identity,
  id       text not null unique default events.new_id() check (id ~ '^evt_[a-z2-7]{20}$'),   -- that of the event in the outbox too
  type     text not null check (type ~ '^[a-z0-9_]+\.[a-z0-9_]+$'),   -- of kernel/events/catalogue.ts
  series   text[] check (cardinality(series) between 1 and 250),      -- of an event about series: their ids, sorted
  data     jsonb not null check (jsonb_typeof(data) = 'object'),      -- the delivered `data`, without `series`
  at       timestamptz not null
);
comment on table data.updates is
  'A row is a change of data, for readers of /v1/updates. Loads insert under their lock, so positions have the order of the commits. Deleted after 100 days.';
create index updates_at on data.updates (at);

create view events.updates as select position, id, type, series, data, at from data.updates;
comment on view events.updates is
  'The updates for accounts-api, which may not enter schema data: a view reads with the rights of its owner.';

-- Reports a change of data: to readers of /v1/updates, and to the webhooks of every account.
create function events.report(type text, series text[], data jsonb, at timestamptz) returns void language sql volatile as $$
  with update as (
    insert into data.updates (type, series, data, at) values ($1, $2, $3, $4) returning *
  )
  insert into events.outbox (id, type, series, data, at) select id, type, series, data, at from update
$$;

create table data.published_releases (
  release_id text primary key references data.releases on delete cascade,
  load_no    bigint not null references data.loads
);
comment on table data.published_releases is
  'A row is an entry of the calendar that a load has brought, and that an event has reported: each once, also when its row changes.';
