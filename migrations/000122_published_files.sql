-- What almanac publish has loaded, so that it loads only what has changed, on whatever machine it runs. A row is written in the
-- transaction of the load.
create table data.published_files (
  publication    text  not null check (publication ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$'), -- `name` of almanac.yml
  path           text  not null check (length(path) between 1 and 2000),   -- below the folder, or a URL
  sheet          text  not null check (length(sheet) <= 200),              -- of a workbook; '' of any other file
  content_sha256 bytea not null check (length(content_sha256) = 32),
  entry          jsonb not null check (jsonb_typeof(entry) = 'object'),    -- of almanac.yml
  loaded_at      timestamptz not null default now(),
  primary key (publication, path, sheet)
);
