-- A release under embargo is never late: whoever holds the load lock when one is to be prepared is interrupted, and starts again afterwards.

create table embargo.interruptions (
  release_no  bigint not null references embargo.releases on delete cascade,
  transaction text not null check (transaction ~ '^[0-9]+/[0-9]+$'),  -- the virtual transaction that was interrupted, as pg_locks names it
  at          timestamptz not null default clock_timestamp(),
  primary key (release_no, transaction)
);
comment on table embargo.interruptions is
  'A row is a transaction under the load lock that a release has interrupted: whoever ran it finds here why it failed. Kept for a day.';
create index interruptions_transaction on embargo.interruptions (transaction);

-- Ends the connection that holds the load lock (statements.sql.ts) by this transaction, and no other. It runs as the owner, whose commands load too:
-- the publisher may not end their connections by itself.
create function embargo.end_load(held_by text) returns boolean language sql volatile security definer set search_path = pg_catalog, pg_temp as $$
  select coalesce(bool_or(pg_terminate_backend(pid)), false) from pg_locks
  where locktype = 'advisory' and classid = 0 and objid = 4115202 and objsubid = 1 and granted and virtualtransaction = held_by
    and database = (select oid from pg_database where datname = current_database())
$$;
revoke execute on function embargo.end_load(text) from public;
