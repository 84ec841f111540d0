-- Schema events: what has changed, for the webhooks of customers. A load and accounts-api write an event in the transaction of its
-- change; the worker of accounts-api turns it into messages to endpoints and deletes it.

create schema events;

create table events.outbox (
  position   bigint generated always as identity primary key,
  id         text not null unique check (id ~ '^evt_[a-z2-7]{20}$'),
  type       text not null check (type ~ '^[a-z0-9_]+\.[a-z0-9_]+$'),        -- of kernel/events/catalogue.ts
  account_id text references accounts.accounts on delete cascade,             -- null: for every account
  series     text[] check (cardinality(series) between 1 and 250),            -- of an event about series: their ids, sorted
  data       jsonb not null check (jsonb_typeof(data) = 'object'),            -- what is delivered as `data`, without `series`
  at         timestamptz not null,
  check (account_id is null or series is null)
);

create index events_outbox_of_account on events.outbox (account_id) where account_id is not null;
