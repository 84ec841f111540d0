-- Keeps the lease of each gateway apart, with the generation that it uses: a change of a credential then waits only for gateways that
-- still use an earlier generation, until they use the new one or their lease has ended.
create table accounts.credential_leases (
  gateway_id uuid primary key,
  -- Where the gateway caches credentials. No entry in Redis can invalidate those in its process.
  held_in text not null check (held_in in ('redis', 'process')),
  -- The earliest generation that the gateway may still use.
  generation bigint not null,
  leased_until timestamptz not null
);

-- The leases of gateways of the earlier version, which have no id here, are waited for as well.
lock table accounts.credential_cache in access exclusive mode;
insert into accounts.credential_leases (gateway_id, held_in, generation, leased_until)
select gen_random_uuid(), 'redis', 0, greatest(leased_until, before_until) from accounts.credential_cache
where greatest(leased_until, before_until) > clock_timestamp();

alter table accounts.credential_cache drop column leased_until, drop column process_leased_until, drop column before_until;
