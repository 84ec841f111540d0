-- Keys, the ledger of calls, and the monthly quota. A gateway caches keys and calls in its process while its lease lasts (gateway/PROTOCOL.md).

-- The three active keys of an account have the slots 1, 2 and 3. A revoked key frees its slot at once, an expired one when the next key is created,
-- as a constraint cannot read the time. A working key always has a slot.
create table accounts.api_keys (
  id         text primary key check (id ~ '^key_[a-z2-7]{20}$'),
  account_id text not null references accounts.accounts on delete cascade,
  name       text not null check (length(name) between 1 and 100),
  hash       text not null unique check (hash ~ '^[0-9a-f]{64}$'),   -- SHA-256; the value itself is nowhere
  mask       text not null check (length(mask) <= 32),               -- pk_live_abcd…wxyz
  slot       smallint check (slot between 1 and 3),
  created_at   timestamptz not null,
  expires_at   timestamptz check (expires_at > created_at),
  last_used_at timestamptz,                                          -- at most once a minute, never backwards
  revoked_at   timestamptz,
  expiry_notified_at timestamptz,                                        -- the last mail about its end
  previous_hash  text unique check (previous_hash ~ '^[0-9a-f]{64}$'),   -- of the value before the last rotation
  previous_mask  text check (length(previous_mask) <= 32),
  previous_until timestamptz,                                             -- until then it works as well as the new one
  scopes    text[] not null default '{data,read,manage}'
    constraint api_keys_scopes check (cardinality(scopes) >= 1 and scopes <@ array['data', 'read', 'manage']),
  addresses text[] check (cardinality(addresses) between 1 and 20),  -- IP ranges that may use it; null: all
  as_of date check (as_of between '1900-01-01' and '9999-12-31'),    -- its answers are as of the end of this day; null: of now
  unique (account_id, slot),
  check (revoked_at is null or slot is null),
  check (slot is not null or revoked_at is not null or expires_at is not null),
  constraint api_keys_previous check (num_nulls(previous_hash, previous_mask, previous_until) in (0, 3)),
  -- One that may manage the account could make itself a key without the day.
  constraint api_keys_pinned check (as_of is null or scopes = '{data}')
);
comment on table accounts.api_keys is
  'A row is an API key. It stays after it has ended, for the list and the audit; an account that is deleted takes its keys along.';
create index api_keys_of_account on accounts.api_keys (account_id, created_at);
create index api_keys_pinned_days on accounts.api_keys (as_of) where as_of is not null;
create index api_keys_expiring on accounts.api_keys (expires_at)
  where expires_at is not null and revoked_at is null;

create view data.pinned_days as
select as_of as day, row_number() over (order by min(of_account), min(created_at), as_of) as place
from (
  select as_of, created_at, row_number() over (partition by account_id order by created_at, id) as of_account from accounts.api_keys
  where as_of is not null and revoked_at is null and (expires_at is null or expires_at > now())
    and greatest(last_used_at, created_at) > now() - interval '30 days') used
group by as_of;
comment on view data.pinned_days is
  'A row is a day that keys are pinned to which were made or used within 30 days, for the publisher, which may not enter schema accounts: it '
  'writes bulk files as of the first days. The first day of an account is before the second of any other.';

-- No foreign keys: the ledger outlives accounts and keys, and one stale id must not prevent a batch from being counted.
create table accounts.usage_daily (
  account_id   text     not null check (length(account_id) <= 64),
  day          date     not null,
  key_id       text     not null check (length(key_id) <= 64),
  endpoint     text     not null check (length(endpoint) between 1 and 64),
  status_class smallint not null check (status_class between 1 and 5),   -- 2 for 200 to 299
  calls        bigint   not null check (calls >= 0),
  billed       bigint   not null check (billed between 0 and calls),
  primary key (account_id, day, key_id, endpoint, status_class)
);
comment on table accounts.usage_daily is
  'A row is the calls of an account, key, day (UTC), endpoint and class of status. Together they are the ledger.';

create table accounts.settled_batches (
  batch_id uuid primary key,
  at       timestamptz not null
);
comment on table accounts.settled_batches is
  'A row is a batch of usage that was counted. A gateway that lost the answer sends its batch again. Deleted after a week.';
create index settled_batches_at on accounts.settled_batches (at);

create table accounts.change_counter (
  one       boolean primary key default true check (one),
  no        bigint not null default 0 check (no >= 0),          -- of the last change
  forgotten bigint not null default 0 check (forgotten >= 0)    -- changes up to this number have been deleted
);
comment on table accounts.change_counter is
  'One row. Its lock gives changes their numbers in the order of their commits, and makes a change wait for leases that are being '
  'given.';
insert into accounts.change_counter default values;

create table accounts.changes (
  no         bigint primary key,
  account_id text not null check (length(account_id) <= 64),   -- no reference: the account may be deleted by the change
  at         timestamptz not null
);
comment on table accounts.changes is
  'A row is a change of an account or of one of its keys that gateways must know of, with the number by which they acknowledge it.';
create index changes_at on accounts.changes (at);

-- Deferred to the commit: the counter is then locked only briefly, and numbers are in commit order. The table lock is queued ahead of leases
-- requested later: otherwise many overlapping leases could delay a change's number for ever.
create function accounts.number_change() returns trigger language plpgsql as $$
declare
  number bigint;
begin
  lock table accounts.change_counter in exclusive mode;
  update accounts.change_counter set no = no + 1 returning no into number;
  insert into accounts.changes (no, account_id, at) values
    (number, case tg_table_name when 'accounts' then to_jsonb(old) ->> 'id' else to_jsonb(old) ->> 'account_id' end, clock_timestamp());
  perform pg_notify('almanac_changes', '');
  return null;
end $$;
create constraint trigger accounts_changed after update on accounts.accounts deferrable initially deferred for each row
  when ((old.plan, old.status, old.subscription_state) is distinct from (new.plan, new.status, new.subscription_state))
  execute function accounts.number_change();
create constraint trigger api_keys_changed after update on accounts.api_keys deferrable initially deferred for each row
  when ((old.hash, old.previous_hash, old.previous_until, old.revoked_at, old.expires_at, old.scopes, old.addresses, old.as_of)
    is distinct from (new.hash, new.previous_hash, new.previous_until, new.revoked_at, new.expires_at, new.scopes, new.addresses, new.as_of))
  execute function accounts.number_change();
create constraint trigger api_keys_deleted after delete on accounts.api_keys deferrable initially deferred for each row
  execute function accounts.number_change();

create table accounts.gateways (
  life         uuid primary key,
  seen         bigint not null check (seen >= 0),
  leased_until timestamptz not null
);
comment on table accounts.gateways is
  'A row is a life, one process of a gateway: the last change that is in force there, and until when it may serve by what it keeps. '
  'leased_until -infinity: it is closed.';

-- usage_daily.billed sums to `used` once all batches are counted, so a lost month can be recounted from it.
create table accounts.quota_months (
  account_id text not null references accounts.accounts on delete cascade,
  month date   not null check (extract(day from month) = 1),
  used  bigint not null default 0 check (used >= 0),
  -- Calls answered 2xx or 304, as in the ledger; unlike `used`, without calls in flight and in allotments.
  served bigint not null default 0 check (served >= 0),
  -- From now on, `used` counts only served calls.
  out bigint not null default 0 check (out >= 0),
  primary key (account_id, month)
);
comment on table accounts.quota_months is
  'A row is a calendar month (UTC) of an account: the calls used, and those out in blocks. Its lock keeps all gateways together within '
  'the limit.';

create table accounts.quota_blocks (
  account_id text not null references accounts.accounts on delete cascade,
  month      date not null check (extract(day from month) = 1),
  life       uuid not null references accounts.gateways,
  granted    bigint not null default 0,                         -- ever
  spent      bigint not null default 0 check (spent >= 0),      -- reported as served
  returned   bigint not null default 0 check (returned >= 0),   -- given back unused
  recalled   boolean not null default false,                    -- the life must give back the calls that it does not need
  primary key (account_id, month, life),
  constraint quota_blocks_out_check check (granted >= spent + returned)
);
comment on table accounts.quota_blocks is
  'A row is the block of a life: calls of a month that were granted to it in advance. What is neither spent nor returned is out.';
create index quota_blocks_of_life on accounts.quota_blocks (life);

create table accounts.usage_thresholds (
  account_id  text not null references accounts.accounts on delete cascade,
  month       date not null check (extract(day from month) = 1),
  calls_month bigint not null check (calls_month > 0),   -- the limit at that moment: a changed plan begins anew
  percent     smallint not null check (percent in (50, 80, 100)),
  served      bigint not null,                           -- after the batch that reached it
  reached_at  timestamptz not null,
  mailed_at   timestamptz,                               -- when the mail was written down; null: not yet
  primary key (account_id, month, calls_month, percent)
);
comment on table accounts.usage_thresholds is
  'A row is a part of the limit that an account reached in a month: 50, 80 or 100 %. It is written in the transaction that counts the '
  'call, and mails are sent by it.';
create index usage_thresholds_to_mail on accounts.usage_thresholds (reached_at) where mailed_at is null;
