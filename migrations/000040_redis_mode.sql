-- Lets gateways read credentials and draw quota in Redis while PostgreSQL remains the source of truth.

-- Increases with every change that a gateway must know of. The sum of the revisions of an account and its key orders all states of a
-- credential, so that a cache entry written late never replaces a newer one.
alter table accounts.accounts add column revision bigint not null default 0;
alter table accounts.api_keys add column revision bigint not null default 0;

-- The credentials that have changed but whose cache entries have not: written with the change, deleted when no gateway uses
-- an older entry any more. Triggers write it, so no change can omit it.
create table accounts.changed_credentials (
  change_no bigint generated always as identity primary key,
  hash      text not null
);

create function accounts.note_changed_account() returns trigger language plpgsql as $$
begin
  new.revision := old.revision + 1;
  insert into accounts.changed_credentials (hash)
    select hash from accounts.api_keys where account_id = new.id and revoked_at is null;
  return new;
end $$;

create trigger accounts_changed before update on accounts.accounts for each row
  when ((old.plan, old.status, old.subscription_state) is distinct from (new.plan, new.status, new.subscription_state))
  execute function accounts.note_changed_account();

create function accounts.note_changed_key() returns trigger language plpgsql as $$
begin
  insert into accounts.changed_credentials (hash) values (old.hash);
  if tg_op = 'DELETE' then return old; end if;
  new.revision := old.revision + 1;
  return new;
end $$;

create trigger api_keys_changed before update on accounts.api_keys for each row
  when ((old.revoked_at, old.expires_at) is distinct from (new.revoked_at, new.expires_at))
  execute function accounts.note_changed_key();

create trigger api_keys_deleted before delete on accounts.api_keys for each row execute function accounts.note_changed_key();

-- The credential cache (renamed in 000064), one row: the generation of its entries, and until when a gateway may use one. If an entry
-- cannot be written, a new generation begins, and the change waits until no gateway uses the previous one.
create table accounts.copies (
  one        boolean primary key default true check (one),
  generation bigint not null default 1,
  leased_until timestamptz not null default '-infinity',  -- of the current generation
  before_until timestamptz not null default '-infinity'   -- of all earlier ones
);

insert into accounts.copies default values;

-- Quota allotments (renamed in 000064): calls that are charged to a month in advance and drawn in Redis, one for each counter there.
-- `granted` is part of quota_months.used from the start, so an allotment that is lost with Redis gives no call twice; calls that were
-- not drawn are refunded once every gateway has reported.
create table accounts.quota_purses (
  account_id text not null references accounts.accounts on delete cascade,
  month      date not null check (extract(day from month) = 1),
  purse_id   text not null check (length(purse_id) between 1 and 64),
  granted    bigint not null default 0 check (granted >= 0),
  spent      bigint not null default 0 check (spent >= 0),   -- as reported by gateways
  closed_at    timestamptz,                                  -- replaced by another allotment
  reclaimed_at timestamptz check (closed_at is not null or reclaimed_at is null),
  primary key (account_id, month, purse_id)
);

create index quota_purses_closed on accounts.quota_purses (closed_at) where closed_at is not null and reclaimed_at is null;
