-- The roles of the services and their rights: each reaches only its own schemas. "almanac migrate" runs this as the owner of the schemas, after the
-- migrations. It may be run again at any time, and covers the tables of later migrations by the same owner. It sets no passwords.

do $$ begin
  if not exists (select from pg_roles where rolname = 'almanac_data_api') then
    create role almanac_data_api;
    alter role almanac_data_api set default_transaction_read_only = on;
  end if;
  if not exists (select from pg_roles where rolname = 'almanac_accounts_api') then
    create role almanac_accounts_api;
  end if;
  if not exists (select from pg_roles where rolname = 'almanac_publisher') then
    create role almanac_publisher;
  end if;
  -- By default, every role may fill the disk with temporary tables.
  execute format('revoke temporary on database %I from public', current_database());
  -- Loads stage their rows in temporary tables.
  execute format('grant temporary on database %I to almanac_publisher', current_database());
end $$;

-- All services read the applied migrations, for their readiness.
grant select on public.almanac_migrations to almanac_data_api, almanac_accounts_api, almanac_publisher;

-- data-api reads schema data.
grant usage on schema data to almanac_data_api;
grant select on all tables in schema data to almanac_data_api;
alter default privileges in schema data grant select on tables to almanac_data_api;
-- The published files are the loader's own record: the URL of a file may contain a token.
revoke all on data.published_files from almanac_data_api;

-- accounts-api and its worker write the rows of schema accounts, and own the objects in schema jobs.
grant usage on schema accounts to almanac_accounts_api;
grant select, insert, update, delete on all tables in schema accounts to almanac_accounts_api;
grant usage on all sequences in schema accounts to almanac_accounts_api;
alter default privileges in schema accounts grant select, insert, update, delete on tables to almanac_accounts_api;
alter default privileges in schema accounts grant usage on sequences to almanac_accounts_api;
grant usage, create on schema jobs to almanac_accounts_api;

-- They write events, and the worker delivers and deletes them; the events of a load are written by the owner, who loads. To lock the rows that it
-- delivers, the worker needs the right to update them. Updates are read through views: to send them again, and to mail those who follow a change.
grant usage on schema events to almanac_accounts_api;
grant select, insert, update, delete on events.outbox to almanac_accounts_api;
grant select on events.updates, events.series, events.series_ids, events.points, events.series_words to almanac_accounts_api;
grant usage on all sequences in schema events to almanac_accounts_api;

-- The publisher loads: it writes schema data with its sequences, adds events, and reads nothing of accounts. The files of releases that are not
-- public yet, and the URLs of sources, are in schema embargo, which no other service can read.
grant usage on schema data, embargo, events to almanac_publisher;
grant select, insert, update, delete on all tables in schema data, embargo to almanac_publisher;
grant select, usage, update on all sequences in schema data to almanac_publisher;
-- What operators did is recorded by rows that are only added.
revoke update, delete on data.audit_events, embargo.history from almanac_publisher;
grant insert on events.outbox to almanac_publisher;
alter default privileges in schema data grant select, insert, update, delete on tables to almanac_publisher;
alter default privileges in schema data grant select, usage, update on sequences to almanac_publisher;
alter default privileges in schema embargo grant select, insert, update, delete on tables to almanac_publisher;
-- The publisher ends the connection of a load that a release interrupts, even one of another role.
grant execute on function embargo.end_load(text) to almanac_publisher;
do $$ begin
  -- A load that doubles the observations updates the planner's statistics. Before PostgreSQL 17 only the owner may; autovacuum does it later.
  if current_setting('server_version_num')::int >= 170000 then
    grant maintain on data.observations to almanac_publisher;
  end if;
end $$;

-- The owner runs the commands for accounts as the role of accounts-api. An administrator who has created the role has to grant it. Then the jobs
-- created by another role, before there were roles, change owner. Indexes and sequences follow their tables.
do $$
declare
  changed text;
  -- On PostgreSQL 16 or newer, the creator of a role administers it, but may not act as it yet.
  is_old constant boolean := current_setting('server_version_num')::int < 160000;
  acting constant text := case when is_old then 'member' else 'set' end;
begin
  if not pg_has_role('almanac_accounts_api', acting) and (
    pg_has_role('almanac_accounts_api', 'member with admin option')
    or (is_old and (select rolcreaterole from pg_roles where rolname = current_user))
  ) then
    grant almanac_accounts_api to current_user;
  end if;
  for changed in
    select format('table %s', oid::regclass) from pg_class
    where relnamespace = 'jobs'::regnamespace and relkind in ('r', 'p') and relowner <> 'almanac_accounts_api'::regrole
    union all
    select format('routine %s', oid::regprocedure) from pg_proc
    where pronamespace = 'jobs'::regnamespace and proowner <> 'almanac_accounts_api'::regrole
    union all
    select format('type %s', oid::regtype) from pg_type
    where typnamespace = 'jobs'::regnamespace and typtype = 'e' and typowner <> 'almanac_accounts_api'::regrole
  loop
    -- Only a member of a role may make it an owner.
    execute format('alter %s owner to almanac_accounts_api', changed);
  end loop;
end $$;
