-- Lets a gateway without Redis keep credentials, and calls charged in advance, in its own process.

-- Until when a gateway may use credentials cached in its process, which no entry in Redis can invalidate.
alter table accounts.credential_cache add column process_leased_until timestamptz not null default '-infinity';

-- All gateways draw from an allotment in Redis, which a new one replaces. Only one gateway draws from an allotment in its process,
-- and soon returns what it does not need. `granted` is what was granted and not returned.
alter table accounts.quota_allotments
  add column holder text not null default 'redis' check (holder in ('redis', 'process')),
  add column returned bigint not null default 0 check (returned >= 0),
  add column topped_up_at timestamptz;

-- For allotments whose gateway has ended without returning its calls.
create index quota_allotments_in_processes on accounts.quota_allotments (topped_up_at)
  where holder = 'process' and reclaimed_at is null and granted > drawn;
