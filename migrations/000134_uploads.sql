-- Files that operators send to the API: they stand in schema embargo until they are published, as nobody has said yet what may be seen of them.

create table embargo.uploads (
  upload_id   uuid primary key,
  account_id  text not null check (length(account_id) between 1 and 64),       -- of the operator
  name        text not null check (length(name) between 1 and 200),            -- a label: nothing is found by it
  publication text not null check (length(publication) between 1 and 80),      -- what was loaded under this name before says how it is read
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  bytes       bigint check (bytes >= 0),                                        -- null until all of it has arrived
  sha256      text check (sha256 ~ '^[0-9a-f]{64}$'),
  tables      jsonb check (jsonb_typeof(tables) = 'array'),                     -- what was found in it
  published   integer[] not null default '{}',                                  -- the positions of the tables that were published
  constraint uploads_arrived_check check ((bytes is null) = (sha256 is null)),
  constraint uploads_tables_present_check check (tables is null or bytes is not null)
);
create index uploads_expires_at on embargo.uploads (expires_at);
create index uploads_of_account on embargo.uploads (account_id);

-- The file of an upload in pieces of a gzip stream, as that of a release.
create table embargo.upload_pieces (
  upload_id uuid not null references embargo.uploads on delete cascade,
  position  integer not null check (position >= 0),
  bytes     bytea not null check (octet_length(bytes) between 1 and 1048576),
  primary key (upload_id, position)
);
-- They are compressed already.
alter table embargo.upload_pieces alter column bytes set storage external;
