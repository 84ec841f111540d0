-- Sources that keep themselves fresh: the URLs with a schedule of almanac.yml, which the publisher fetches. A URL may carry a token, so
-- they stand in schema embargo, which no service that answers calls may enter.

create table embargo.sources (
  name          text primary key check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$'),
  publication   text not null check (length(publication) between 1 and 80),     -- of almanac.yml
  url           text not null check (length(url) <= 2048 and url ~ '^https?://'),
  sheet         text not null check (length(sheet) <= 500),                      -- '' unless it is a workbook
  entry         jsonb not null check (jsonb_typeof(entry) = 'object'),           -- of almanac.yml: how the file is loaded
  schedule      text not null check (length(schedule) between 1 and 64),
  registered_at timestamptz not null,
  fetch_at      timestamptz not null,                                            -- the next fetch; after a failure before the schedule says
  lease         uuid,                                                            -- of the process that fetches it now
  leased_until  timestamptz,
  etag          text check (length(etag) <= 1024),                               -- of the content with this hash, which is loaded
  last_modified text check (length(last_modified) <= 128),
  content_sha256 text check (content_sha256 ~ '^[0-9a-f]{64}$'),
  fetched_at    timestamptz,                                                     -- the end of the last fetch, whatever came of it
  changed_at    timestamptz,                                                     -- of the last that was loaded
  failures      integer not null default 0 check (failures >= 0),                -- in a row
  failing_since timestamptz,
  outcome       jsonb check (jsonb_typeof(outcome) = 'object'),                  -- of the last fetch
  constraint sources_place_key unique (publication, url, sheet),
  constraint sources_lease_check check ((lease is null) = (leased_until is null)),
  constraint sources_failing_check check ((failures = 0) = (failing_since is null)),
  constraint sources_fetched_check check ((fetched_at is null) = (outcome is null))
);
create index sources_fetch_at on embargo.sources (fetch_at);

-- What everybody may know of them, without the URL. It is read with the rights of its owner, not of the reader.
create view data.fetched_sources as
  select name,
    case when entry -> 'series' ->> 'source' !~ '[{}]' then entry -> 'series' ->> 'source' end as source,
    schedule, fetched_at, changed_at, failures, fetch_at
  from embargo.sources;
