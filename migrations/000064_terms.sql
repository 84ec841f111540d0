-- The names of the field: a credential cache, the replication id of a Redis server, quota allotments that calls are drawn from.
alter table accounts.copies rename to credential_cache;
alter table accounts.credential_cache rename column life to replication_id;

alter table accounts.quota_purses rename to quota_allotments;
alter table accounts.quota_allotments rename column purse_id to allotment_id;
alter table accounts.quota_allotments rename column spent to drawn;
alter index accounts.quota_purses_closed rename to quota_allotments_closed;

-- Constraints that PostgreSQL named: which there are depends on its version (not null is one of its own from 18 on).
do $$
declare
  old record;
begin
  for old in
    select conrelid::regclass as of, conname as name from pg_constraint
    where conrelid in ('accounts.credential_cache'::regclass, 'accounts.quota_allotments'::regclass)
      and conname ~ '^(copies|quota_purses)_'
  loop
    execute format('alter table %s rename constraint %I to %I', old.of, old.name,
      replace(replace(replace(regexp_replace(old.name, '^copies', 'credential_cache'),
        'quota_purses', 'quota_allotments'), 'purse_id', 'allotment_id'), 'spent', 'drawn'));
  end loop;
end
$$;
