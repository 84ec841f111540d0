-- Webhooks: the endpoints of accounts, the messages to them, and each attempt to send one. Follows: changes to mail to accounts. Schema jobs is
-- the queue of accounts-api and its worker: pg-boss creates and migrates its content, with a role that may not create schemas.

create table accounts.webhooks (
  id          text primary key check (id ~ '^wh_[a-z2-7]{20}$'),
  account_id  text not null references accounts.accounts on delete cascade,
  slot        smallint not null check (slot between 1 and 10),                      -- so an account has at most ten
  url         text not null check (length(url) <= 2048 and url ~ '^https?://'),
  description text check (length(description) between 1 and 200),
  events      text[] not null check (cardinality(events) >= 1),                     -- types of kernel/events/catalogue.ts
  series      text[] check (cardinality(series) between 1 and 100),                 -- ids, and prefixes with * at the end; null: all
  secret      text not null check (length(secret) <= 200),                          -- encrypted, after the id of the key
  previous_secret       text check (length(previous_secret) <= 200),
  previous_secret_until timestamptz,                                                -- until then messages are signed with both
  created_at       timestamptz not null,
  disabled_at      timestamptz,
  disabled_because text check (disabled_because in ('asked', 'failing', 'gone')),   -- by the account; every attempt of 5 days failed; 410
  failing_since    timestamptz,                                                     -- the first failure since the last success
  last_failed_at   timestamptz,
  throttled_until  timestamptz,                                                     -- nothing is sent before, after 429, 502 and 504
  sender       text check (length(sender) <= 40),                                   -- the worker that sends to it
  sender_until timestamptz,                                                         -- then another may, unless it is extended
  unique (account_id, slot),
  constraint webhooks_previous_secret check ((previous_secret is null) = (previous_secret_until is null)),
  constraint webhooks_disabled check ((disabled_at is null) = (disabled_because is null)),
  constraint webhooks_failing check ((failing_since is null) = (last_failed_at is null)),
  constraint webhooks_sender check ((sender is null) = (sender_until is null))
);
comment on table accounts.webhooks is
  'A row is an endpoint of an account.';

create table accounts.webhook_events (
  id   text primary key check (id ~ '^evt_[a-z2-7]{20}$'),
  at   timestamptz not null,
  body text not null    -- the bytes that are signed and sent
);
comment on table accounts.webhook_events is
  'A row is an event that at least one endpoint receives. Deleted after 30 days, with the messages.';
create index webhook_events_at on accounts.webhook_events (at);

-- No reference to its endpoint: the worker deletes the messages of a deleted endpoint in batches, as there may be millions.
create table accounts.webhook_messages (
  id            text primary key check (id ~ '^msg_[a-z2-7]{20}$'),
  webhook_id    text not null,
  event_id      text not null references accounts.webhook_events on delete cascade,
  type          text not null,
  body          text,          -- null: that of the event
  created_at    timestamptz not null,
  status        text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts      integer not null default 0 check (attempts >= 0),
  failures      smallint not null default 0 check (failures >= 0),
  due_at        timestamptz,   -- when the next attempt is due
  unique (event_id, webhook_id),
  constraint webhook_messages_due check ((status = 'pending') = (due_at is not null))
);
comment on table accounts.webhook_messages is
  'A row is a message: one event to one endpoint. failures counts those of the present schedule, attempts all that were begun.';
-- The log of an endpoint · the endpoints with messages to send, the first due first · messages in flight.
create index webhook_messages_of_webhook on accounts.webhook_messages (webhook_id, created_at, id);
create index webhook_messages_due_at on accounts.webhook_messages (webhook_id, due_at) where due_at is not null;

create table accounts.webhook_attempts (
  message_id text not null references accounts.webhook_messages on delete cascade,
  attempt    integer not null check (attempt > 0),
  at         timestamptz not null,
  latency_ms integer not null check (latency_ms >= 0),
  status     smallint check (status between 100 and 999),   -- of the answer; null: no answer
  error      text check (length(error) <= 40),              -- why there was no answer
  response   text check (length(response) <= 1024),         -- the beginning of its body
  primary key (message_id, attempt),
  check ((status is null) = (error is not null))
);
comment on table accounts.webhook_attempts is
  'A row is an attempt to send a message.';

create table accounts.follows (
  id         text primary key check (id ~ '^flw_[a-z2-7]{20}$'),
  account_id text not null references accounts.accounts on delete cascade,
  kind       text not null check (kind in ('series', 'source', 'search')),
  subject    text not null check (length(subject) between 1 and 500),   -- an id, the name of a source, or words
  mode       text not null check (mode in ('at_once', 'daily')),
  created_at timestamptz not null,
  place      bigint not null check (place >= 0),                        -- of data.updates: the changes up to it were mailed, or came before the follow
  changed_at timestamptz,                                               -- of the first change after it that was read; null: nothing waits
  mailed_at  timestamptz,
  unique (account_id, kind, subject)
);
comment on table accounts.follows is
  'A row is a series, a source or a search that an account is mailed about when it changes.';
create index follows_by_subject on accounts.follows (kind, subject);
-- For the worker: accounts with changes to mail.
create index follows_changed on accounts.follows (account_id) where changed_at is not null;

create table accounts.follow_reader (
  one   boolean primary key default true check (one),
  place bigint not null default 0 check (place >= 0)
);
comment on table accounts.follow_reader is
  'One row: the place in data.updates up to which follows were looked for. Its lock keeps workers from looking at the same time.';
insert into accounts.follow_reader default values;

-- What accounts-api, which may not enter schema data, knows of series: their metadata and which loads changed how many points, never a value.
create view events.series as
  select s.series_no, s.series_id as id, s.name, s.source, s.frequency, s.last_date, s.deleted_on is not null as is_deleted
  from data.series s
  where not exists (select from data.series_aliases a where a.alias = s.series_id and a.merged_from = s.series_no);
comment on view events.series is
  'The series, also those that were deleted, without those that were merged into another one.';

create view events.series_ids as
  select id, series_no from events.series union all select alias, series_no from data.series_aliases;
comment on view events.series_ids is
  'The ids of each series, present and earlier.';

create view events.points as
  select d.series_no, d.line_no, o.date, o.load_no, o.superseded_load_no
  from data.series_dims d join data.observations o using (line_no);
comment on view events.points is
  'Which load stated a point of a series, and which load ended that.';

create view events.series_words as
  select series_no, words from data.search_entries where series_no is not null;
comment on view events.series_words is
  'The words by which each series is found.';

-- The words of a search as a query for series_words: a series has all of them. It is empty without a word.
create function events.search_query(words text) returns tsquery language sql stable return
  plainto_tsquery('data.english', data.search_text(words));

create schema if not exists jobs;
