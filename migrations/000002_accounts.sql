-- Schema accounts: what accounts-api owns. data-api and ingest never read it; the gateway asks over HTTP.
-- Every instant is given by the service's clock, so that one clock decides what has expired and which month it is.

create schema accounts;

create table accounts.accounts (
  id    text primary key check (id ~ '^acct_[a-z2-7]{20}$'),
  email text not null check (length(email) between 3 and 254 and email ~ '^[^@[:cntrl:] ]+@[^@[:cntrl:] ]+$'),
  name  text check (length(name) between 1 and 100),
  plan  text not null check (plan ~ '^[a-z][a-z0-9_-]{0,31}$'),  -- an id of config/plans.yml; one that is gone counts as free
  status text not null default 'active' check (status in ('active', 'disabled')),
  -- none: nothing to pay, or the operator set the plan · inactive: unpaid, so keyed calls answer 402.
  subscription_state text not null default 'none' check (subscription_state in ('none', 'active', 'inactive')),
  created_at timestamptz not null
);

-- One account per e-mail address, whatever its letter case; the spelling of its owner is kept.
create unique index accounts_email on accounts.accounts (lower(email));

-- Keys stay after they end, for the list and the audit; an account that is deleted takes its keys along.
-- The three active keys of an account hold the slots 1, 2 and 3. A revoked key gives its slot up at once; an expired one
-- when the next key is made, for no constraint can ask what time it is. A key that still works always holds a slot.
create table accounts.api_keys (
  id         text primary key check (id ~ '^key_[a-z2-7]{20}$'),
  account_id text not null references accounts.accounts on delete cascade,
  name       text not null check (length(name) between 1 and 100),
  hash       text not null unique check (hash ~ '^[0-9a-f]{64}$'),        -- SHA-256; the value itself is nowhere
  mask       text not null check (length(mask) <= 32),                    -- pk_live_abcd…wxyz
  slot       smallint check (slot between 1 and 3),
  created_at   timestamptz not null,
  expires_at   timestamptz check (expires_at > created_at),
  last_used_at timestamptz,                                               -- at most once a minute, never backwards
  revoked_at   timestamptz,
  unique (account_id, slot),
  check (revoked_at is null or slot is null),
  check (slot is not null or revoked_at is not null or expires_at is not null)
);

create index api_keys_of_account on accounts.api_keys (account_id, created_at);

-- What an account has used of a calendar month (UTC): charged before a call is served, refunded where it was not.
-- The row is the lock that keeps every gateway within the limit. usage_daily.billed sums to the same once all is settled,
-- so a lost month can be counted again from there.
create table accounts.quota_months (
  account_id text not null references accounts.accounts on delete cascade,
  month date   not null check (extract(day from month) = 1),
  used  bigint not null default 0 check (used >= 0),
  primary key (account_id, month)
);

-- The ledger: the calls of every account, key, day (UTC), endpoint and class of status.
-- No foreign keys: the ledger outlives what it tells of, and one stale id must not keep a batch from being settled.
create table accounts.usage_daily (
  account_id   text     not null check (length(account_id) <= 64),
  day          date     not null,
  key_id       text     not null check (length(key_id) <= 64),
  endpoint     text     not null check (length(endpoint) between 1 and 64),
  status_class smallint not null check (status_class between 1 and 5),     -- 2 for 200 to 299
  calls        bigint   not null check (calls >= 0),
  billed       bigint   not null check (billed between 0 and calls),
  primary key (account_id, day, key_id, endpoint, status_class)
);

-- The batches that were settled: a gateway that lost the answer sends its batch again. Pruned after a week.
create table accounts.settled_batches (
  batch_id uuid primary key,
  at       timestamptz not null
);

create index settled_batches_at on accounts.settled_batches (at);

-- Answers to requests with an Idempotency-Key, kept for a day. Without an answer: the request runs, or its process died.
-- The key and the body are hashed; an answer never holds a secret.
create table accounts.idempotency_keys (
  account_id   text not null references accounts.accounts on delete cascade,
  route        text not null check (length(route) <= 64),                 -- POST /v1/keys
  key_hash     text not null check (length(key_hash) = 64),
  request_hash text not null check (length(request_hash) = 64),
  claimed_at   timestamptz not null,
  status       smallint,
  answer       jsonb,
  primary key (account_id, route, key_hash),
  check ((status is null) = (answer is null))
);

create index idempotency_keys_claimed_at on accounts.idempotency_keys (claimed_at);

-- Who changed what. Rows are only ever added, and outlive the account that they tell of.
create table accounts.audit_events (
  event_no   bigint generated always as identity primary key,
  at         timestamptz not null,
  account_id text not null check (length(account_id) <= 64),
  actor_kind text not null check (actor_kind in ('key', 'session', 'operator')),
  actor_id   text check (length(actor_id) <= 64),                          -- null for the operator
  action     text not null check (action ~ '^[a-z]+\.[a-z_]+$'),           -- key.created
  subject    text not null check (length(subject) <= 64),                  -- the id of what was changed
  detail     jsonb not null default '{}' check (length(detail::text) <= 4000),
  check ((actor_kind = 'operator') = (actor_id is null))
);

create index audit_events_of_account on accounts.audit_events (account_id, event_no);

create function accounts.refuse_change() returns trigger language plpgsql as
'begin raise exception ''% only takes new rows'', tg_table_name; end';

create trigger audit_events_append_only before update or delete on accounts.audit_events
  for each statement execute function accounts.refuse_change();
