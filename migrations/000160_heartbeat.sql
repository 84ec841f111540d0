-- One message between a gateway and accounts-api, the heartbeat, carries changes, leases and quota. It replaces the credential cache with
-- its generations and the allotments: a gateway keeps credentials and calls in its process, for as long as its lease lasts.

-- Calls in allotments were charged in advance. What was not served goes back. Gateways of the earlier version must have stopped.
update accounts.quota_months as quota set used = greatest(quota.used - held.calls, 0)
from (select account_id, month, sum(granted - spent) as calls from accounts.quota_allotments
      where granted > spent group by account_id, month) as held
where quota.account_id = held.account_id and quota.month = held.month;

-- safe: no released version uses what they write
drop trigger accounts_changed on accounts.accounts;
drop trigger api_keys_changed on accounts.api_keys;
drop trigger api_keys_deleted on accounts.api_keys;
-- safe: no released version uses it
drop function accounts.note_changed_account();
-- safe: no released version uses it
drop function accounts.note_changed_key();
-- safe: no released version uses them
drop table accounts.changed_credentials, accounts.credential_cache, accounts.credential_leases, accounts.quota_allotments;
-- safe: no released version reads it
alter table accounts.accounts drop column revision;
-- safe: no released version reads it
alter table accounts.api_keys drop column revision;

create table accounts.change_counter (
  one       boolean primary key default true check (one),
  no        bigint not null default 0 check (no >= 0),          -- of the last change
  forgotten bigint not null default 0 check (forgotten >= 0)    -- changes up to this number have been deleted
);
comment on table accounts.change_counter is
  'One row. Its lock gives changes their numbers in the order of their commits, and makes a change wait for leases that are being given.';
insert into accounts.change_counter default values;

create table accounts.changes (
  no         bigint primary key,
  account_id text not null check (length(account_id) <= 64),    -- no reference: the account may be deleted by the change
  at         timestamptz not null
);
comment on table accounts.changes is
  'A row is a change of an account or of one of its keys that gateways must know of, with the number by which they acknowledge it.';
create index changes_at on accounts.changes (at);

-- Deferred to the commit: the counter is then locked for a moment only, and numbers are in the order of the commits. The lock of the table is
-- queued for, before leases that are asked for later: many leases that overlap would otherwise keep a change from its number.
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
  when ((old.revoked_at, old.expires_at) is distinct from (new.revoked_at, new.expires_at))
  execute function accounts.number_change();

create constraint trigger api_keys_deleted after delete on accounts.api_keys deferrable initially deferred for each row
  execute function accounts.number_change();

create table accounts.gateways (
  life         uuid primary key,
  seen         bigint not null check (seen >= 0),
  leased_until timestamptz not null
);
comment on table accounts.gateways is
  'A row is a life, one process of a gateway: the last change that is in force there, and until when it may serve by what it keeps. leased_until -infinity: it is closed.';

-- `used` counts served calls only, from now on.
alter table accounts.quota_months add column out bigint not null default 0 check (out >= 0);
comment on table accounts.quota_months is
  'A row is a calendar month (UTC) of an account: the calls used, and those out in blocks. Its lock keeps all gateways together within the limit.';

create table accounts.quota_blocks (
  account_id text not null references accounts.accounts on delete cascade,
  month      date not null check (extract(day from month) = 1),
  life       uuid not null references accounts.gateways,
  granted    bigint not null default 0,                         -- ever
  spent      bigint not null default 0 check (spent >= 0),      -- reported as served
  returned   bigint not null default 0 check (returned >= 0),   -- given back unused
  recalled   boolean not null default false,                    -- the life is to give back what it does not need
  primary key (account_id, month, life),
  constraint quota_blocks_out_check check (granted >= spent + returned)
);
comment on table accounts.quota_blocks is
  'A row is the block of a life: calls of a month that were granted to it in advance. What is neither spent nor returned is out.';
create index quota_blocks_of_life on accounts.quota_blocks (life);
