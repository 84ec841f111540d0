-- What lets a gateway without Redis keep credentials, and calls charged in advance, in its own process.

-- Until when a gateway may use credentials that it keeps in its process: entries of Redis do not take these back.
alter table accounts.credential_cache add column process_leased_until timestamptz not null default '-infinity';

-- All gateways draw from an allotment in Redis, and a new one takes its place. An allotment in a process is drawn from by that
-- gateway alone, which returns soon what it does not need. `granted` is what was granted and has not been returned.
alter table accounts.quota_allotments
  add column holder text not null default 'redis' check (holder in ('redis', 'process')),
  add column returned bigint not null default 0 check (returned >= 0),
  add column topped_up_at timestamptz;

-- For those whose gateway has ended without returning what it held.
create index quota_allotments_in_processes on accounts.quota_allotments (topped_up_at)
  where holder = 'process' and reclaimed_at is null and granted > drawn;
