-- Billing by Stripe. Stripe is the source of truth about subscriptions: these tables are a copy, refreshed after every event, and the list of
-- customers to fetch. Every instant comes from the service's clock, except `created_at` of subscriptions, which is Stripe's.

create table accounts.billing_customers (
  id         text primary key check (id ~ '^cus_[A-Za-z0-9_]{1,250}$'),
  account_id text references accounts.accounts on delete cascade,   -- null: nobody's, or not known yet
  created_at timestamptz not null,
  due_at     timestamptz,                                           -- when to fetch next; null: with the next event
  leased_until timestamptz,
  lease_no   bigint not null default 0,                             -- of the last fetch begun: an earlier one writes nothing
  asked      bigint not null default 0,                             -- increases with every request to fetch
  failures   integer not null default 0 check (failures >= 0),      -- fetches in a row that failed
  last_error text check (length(last_error) <= 500),
  synced_at  timestamptz,
  deleted_at timestamptz,                                           -- no longer at Stripe
  parked_at  timestamptz,                                           -- pays for a plan, and belongs to no account
  check (parked_at is null or account_id is null)
);
comment on table accounts.billing_customers is
  'A row is a customer at Stripe. It is also the job to fetch its subscriptions: due at an instant, and leased while it runs.';
create index billing_customers_of_account on accounts.billing_customers (account_id);
create index billing_customers_due on accounts.billing_customers (due_at) where due_at is not null;
create index billing_customers_parked on accounts.billing_customers (parked_at) where parked_at is not null;

create table accounts.subscriptions (
  id          text primary key check (id ~ '^sub_[A-Za-z0-9_]{1,250}$'),
  customer_id text not null references accounts.billing_customers on delete cascade,
  status      text not null check (length(status) between 1 and 64),                 -- Stripe's; one that we do not know is possible
  price_id    text not null check (length(price_id) <= 255),
  plan        text check (plan ~ '^[a-z][a-z0-9_-]{0,31}$'),                         -- null: no plan has the price
  created_at  timestamptz not null,
  current_period_end timestamptz,
  cancels_at  timestamptz,
  grace_ends_at timestamptz check ((status = 'past_due') = (grace_ends_at is not null)), -- until then it is served unpaid
  invoice     jsonb check (jsonb_typeof(invoice) = 'object'),                        -- the latest one
  failures_reported integer not null default 0 check (failures_reported >= 0),               -- failed attempts to pay it that were reported
  cancel_asked_at timestamptz                                                        -- a second one of its account: we cancel it
);
comment on table accounts.subscriptions is
  'A row is a subscription at Stripe, as last fetched.';
create index subscriptions_of_customer on accounts.subscriptions (customer_id);
create index subscriptions_in_grace on accounts.subscriptions (grace_ends_at) where grace_ends_at is not null;

create table accounts.stripe_events (
  event_no    bigint generated always as identity unique,
  id          text primary key check (id ~ '^evt_[A-Za-z0-9_]{1,250}$'),
  type        text not null check (length(type) between 1 and 128),
  customer_id text check (length(customer_id) <= 255),   -- null: of no customer, so nothing to do
  created_at  timestamptz not null,                      -- at Stripe
  received_at timestamptz not null,
  handled_at  timestamptz,
  check (customer_id is not null or handled_at is not null)
);
comment on table accounts.stripe_events is
  'A row is an event of Stripe: that something changed, not what. Without handled_at it waits for a fetch of its customer.';
create index stripe_events_waiting on accounts.stripe_events (customer_id, event_no) where handled_at is null;
create index stripe_events_received_at on accounts.stripe_events (received_at);

create table accounts.checkouts (
  id         text primary key check (id ~ '^chk_[a-z2-7]{20}$'),
  account_id text references accounts.accounts on delete cascade,          -- null: begun without an account, and not paid yet
  email      text check (length(email) between 3 and 254),                 -- as given without an account
  plan       text not null check (plan ~ '^[a-z][a-z0-9_-]{0,31}$'),
  billing_interval text not null check (billing_interval in ('month', 'year')),
  claim_hash text not null unique check (claim_hash ~ '^[0-9a-f]{64}$'),   -- SHA-256 of the token of the return page
  request_hash text unique check (request_hash ~ '^[0-9a-f]{64}$'),        -- of the Idempotency-Key and its buyer
  session_id text unique check (length(session_id) <= 255),                -- null: being made at Stripe
  url        text check (length(url) <= 5000),
  created_at timestamptz not null,
  expires_at timestamptz not null check (expires_at > created_at),
  check_at   timestamptz,                                                  -- when to ask Stripe for its status; null: it has ended
  paid_at    timestamptz,
  has_key    boolean not null default false,                               -- the payment made the account: its payer gets the first key
  claimed_at timestamptz check (claimed_at is null or has_key),
  closed_at  timestamptz,                                                  -- paid, expired or replaced
  check ((session_id is null) = (url is null)),
  check (has_key <= (paid_at is not null)),
  check (account_id is not null or email is not null)
);
comment on table accounts.checkouts is
  'A row is a payment that was begun at Stripe Checkout. An account has at most one open: two could both be paid.';
create unique index checkouts_open on accounts.checkouts (account_id) where closed_at is null;
create index checkouts_of_account on accounts.checkouts (account_id);
create index checkouts_to_check on accounts.checkouts (check_at) where check_at is not null;
