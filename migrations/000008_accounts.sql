-- Schema accounts: the tables of accounts-api. data-api and ingest never read it; the gateway asks over HTTP. Every instant comes from the service's
-- clock, so that one clock decides what has expired and which month it is. Of every secret that leaves the service (key, session, mailed link, Google
-- hand-over) only the SHA-256 is stored.

create schema accounts;

create table accounts.accounts (
  id    text primary key check (id ~ '^acct_[a-z2-7]{20}$'),
  email text not null check (length(email) between 3 and 254 and email ~ '^[^@[:cntrl:] ]+@[^@[:cntrl:] ]+$'),
  name  text check (length(name) between 1 and 100),
  plan  text not null check (plan ~ '^[a-z][a-z0-9_-]{0,31}$'),   -- an id of config/plans.yml; a removed plan counts as free
  status text not null default 'active' check (status in ('active', 'disabled')),
  -- none: nothing to pay, or the operator set the plan · inactive: unpaid, so calls with a key answer 402.
  subscription_state text not null default 'none' check (subscription_state in ('none', 'active', 'inactive')),
  created_at timestamptz not null,
  password_hash text check (password_hash like '$argon2id$%'),    -- null: signs in by Google, or not yet
  email_verified_at timestamptz,                                  -- null: nobody has proved to own the mailbox
  -- Increases with every change of password or e-mail address, which invalidates earlier mailed links.
  credential_version integer not null default 1 check (credential_version > 0),
  mails_usage boolean not null default true,                      -- half, 80 % and all of a month
  mails_key_expiry boolean not null default true,                 -- a week before a key expires
  mail_refused_at timestamptz,                                    -- when a mail to it was last refused for good; null once one is accepted
  -- Operators: accounts that may manage all others. Only the command line grants and revokes the role.
  role text constraint accounts_role_check check (role in ('operator')),
  email_signs_in boolean not null default true,
  -- The plan that applies again when the subscription ends. Unused while there is no subscription.
  plan_set_aside text check (plan_set_aside ~ '^[a-z][a-z0-9_-]{0,31}$'),
  constraint accounts_unproved_check check (email_signs_in or (email_verified_at is null and password_hash is null and role is null))
);
comment on table accounts.accounts is
  'A row is an account.';
create unique index accounts_email on accounts.accounts (lower(email)) where email_signs_in;
create index accounts_by_email on accounts.accounts (lower(email), id);

create table accounts.sessions (
  id          text primary key check (id ~ '^sess_[a-z2-7]{16}$'),
  account_id  text not null references accounts.accounts on delete cascade,
  secret_hash text not null check (secret_hash ~ '^[0-9a-f]{64}$'),   -- SHA-256 of the token's second half
  created_at  timestamptz not null,
  last_seen_at        timestamptz not null,                           -- at most once in five minutes
  idle_expires_at     timestamptz not null,                           -- moves with last_seen_at
  absolute_expires_at timestamptz not null check (absolute_expires_at > created_at),
  auth_time   timestamptz not null,                                   -- when a password or Google last proved who it is
  two_factors boolean not null,                                       -- a passkey, or a code besides the password or Google
  ip          text not null check (length(ip) <= 64),
  user_agent  text not null check (length(user_agent) <= 256)
);
comment on table accounts.sessions is
  'A row is a session that is signed in. Signing out deletes it.';
create index sessions_of_account on accounts.sessions (account_id, created_at);
create index sessions_absolute_expires_at on accounts.sessions (absolute_expires_at);

-- Each sign-up has its own row, even for the same e-mail address: the owner of the mailbox who knows the password of a row gets the account, so
-- nobody can prepare an account for somebody else.
create table accounts.signups (
  id            text primary key check (id ~ '^sup_[a-z2-7]{20}$'),
  email         text not null check (length(email) between 3 and 254),
  name          text check (length(name) between 1 and 100),
  password_hash text not null check (password_hash like '$argon2id$%'),
  created_at    timestamptz not null,
  expires_at    timestamptz not null
);
comment on table accounts.signups is
  'A row is a sign-up that waits for the click in its mail.';
create index signups_expires_at on accounts.signups (expires_at);
create index signups_email on accounts.signups (lower(email));

create table accounts.mail_tokens (
  hash       text primary key check (hash ~ '^[0-9a-f]{64}$'),
  purpose    text not null check (purpose in ('sign_up', 'verify_email', 'change_email', 'reset_password')),
  signup_id  text references accounts.signups on delete cascade,
  account_id text references accounts.accounts on delete cascade,
  email      text not null check (length(email) between 3 and 254),   -- the mailbox that it proves
  credential_version integer,                                         -- of the account, when it was minted
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at    timestamptz,
  check ((purpose = 'sign_up') = (signup_id is not null)),
  check ((purpose = 'sign_up') = (account_id is null)),
  check ((account_id is null) = (credential_version is null))
);
comment on table accounts.mail_tokens is
  'A row is a mailed link. It is made when the mail is sent, and used once.';
create index mail_tokens_expires_at on accounts.mail_tokens (expires_at);
create index mail_tokens_of_account on accounts.mail_tokens (account_id);

create table accounts.identities (
  issuer     text not null check (length(issuer) <= 255),
  subject    text not null check (length(subject) between 1 and 255),
  account_id text not null references accounts.accounts on delete cascade,
  email      text not null check (length(email) <= 254),   -- as the issuer gave it when it was linked
  created_at timestamptz not null,
  primary key (issuer, subject),
  unique (account_id, issuer)
);
comment on table accounts.identities is
  'A row is a Google identity of an account. Issuer and subject are its key; the e-mail address is not, since addresses change hands.';

-- State, cookie and code are hashed; nonce and PKCE verifier are derived from the cookie and not stored.
create table accounts.google_flows (
  state_hash  text primary key check (length(state_hash) = 64),
  cookie_hash text not null check (length(cookie_hash) = 64),            -- binds the flow to one browser
  return_to   text not null check (length(return_to) <= 512),
  link_account_id text references accounts.accounts on delete cascade,   -- null: to sign in
  expires_at  timestamptz not null,
  used_at     timestamptz,                                               -- when Google sent the browser back
  code_hash   text unique check (length(code_hash) = 64),                -- of the one-time code for the dashboard
  code_account_id text references accounts.accounts on delete cascade,
  code_expires_at timestamptz,
  session_id text references accounts.sessions on delete cascade,        -- that started the link; its end deletes the flow
  credential_version integer,                                            -- of the account to link or to sign in to, when that was decided
  check ((code_hash is null) = (code_account_id is null)),
  check ((code_hash is null) = (code_expires_at is null)),
  check ((link_account_id is null) = (session_id is null)),
  check ((link_account_id is null and code_account_id is null) = (credential_version is null)),
  check (link_account_id is null or code_account_id is null)
);
comment on table accounts.google_flows is
  'A row is a sign-in with Google that is in progress; it lasts ten minutes, and ends with the session that asks to link and when the '
  'credentials of the account change.';
create index google_flows_expires_at on accounts.google_flows (expires_at);
-- For cascades, and for ending all flows of an account.
create index google_flows_session_id on accounts.google_flows (session_id) where session_id is not null;
create index google_flows_link_account_id on accounts.google_flows (link_account_id) where link_account_id is not null;
create index google_flows_code_account_id on accounts.google_flows (code_account_id) where code_account_id is not null;

-- Without an answer, the request is running or its process has died. The key and the body are hashed; an answer never contains a secret.
create table accounts.idempotency_keys (
  account_id   text not null references accounts.accounts on delete cascade,
  route        text not null check (length(route) <= 64),   -- POST /v1/keys
  key_hash     text not null check (length(key_hash) = 64),
  request_hash text not null check (length(request_hash) = 64),
  claimed_at   timestamptz not null,
  status       smallint,
  answer       jsonb,
  primary key (account_id, route, key_hash),
  check ((status is null) = (answer is null))
);
comment on table accounts.idempotency_keys is
  'A row is a request with an Idempotency-Key, and its answer once there is one. It is kept for a day.';
create index idempotency_keys_claimed_at on accounts.idempotency_keys (claimed_at);

create table accounts.audit_events (
  event_no   bigint generated always as identity primary key,
  at         timestamptz not null,
  account_id text not null check (length(account_id) <= 64),
  actor_kind text not null check (actor_kind in ('key', 'session', 'operator', 'visitor', 'system', 'stripe')),
  actor_id   text check (length(actor_id) <= 64),                  -- null for the operator
  action     text not null check (action ~ '^[a-z]+\.[a-z_]+$'),   -- key.created
  subject    text not null check (length(subject) <= 64),          -- the id of the changed object
  detail     jsonb not null default '{}' check (length(detail::text) <= 4000),
  check ( case when actor_kind = 'operator' then true else (actor_kind in ('visitor', 'system', 'stripe')) = (actor_id is null) end)
);
comment on table accounts.audit_events is
  'A row is a change of an account, and who made it. Rows are only added, and outlive the account.';
create index audit_events_of_account on accounts.audit_events (account_id, event_no);

create function accounts.refuse_change() returns trigger language plpgsql as
'begin raise exception ''% only takes new rows'', tg_table_name; end';
create trigger audit_events_append_only before update or delete on accounts.audit_events
  for each statement execute function accounts.refuse_change();

-- Two-factor sign-in: the secrets of authenticator apps, recovery codes, and sign-ins that wait for their second step. A secret is needed to check
-- codes, so it is encrypted instead of hashed, like webhook secrets.

create table accounts.authenticators (
  account_id   text primary key references accounts.accounts on delete cascade,
  secret       text not null check (length(secret) <= 200),   -- encrypted, after the id of the key
  created_at   timestamptz not null,
  confirmed_at timestamptz,                                    -- null: no code was entered yet, so it does not count
  last_step    bigint check (last_step >= 0),                  -- the time step of the last accepted code; earlier ones are refused
  check (confirmed_at is null or last_step is not null)
);
comment on table accounts.authenticators is
  'A row is the authenticator app of an account.';

create table accounts.recovery_codes (
  account_id text not null references accounts.authenticators on delete cascade,
  hash       text not null check (hash ~ '^[0-9a-f]{64}$'),    -- SHA-256 of 120 random bits
  created_at timestamptz not null,
  used_at    timestamptz,
  primary key (account_id, hash)
);
comment on table accounts.recovery_codes is
  'A row is a code that replaces one of the authenticator app, once.';

create table accounts.pending_sign_ins (
  hash       text primary key check (hash ~ '^[0-9a-f]{64}$'), -- SHA-256 of the token
  account_id text not null references accounts.accounts on delete cascade,
  credential_version integer not null,                         -- of the account, when the first step was made
  how        text not null check (how in ('password', 'google', 'mailed_link')),
  known_device boolean not null,                               -- whether the first step came from a device that has signed in before
  expires_at timestamptz not null
);
comment on table accounts.pending_sign_ins is
  'A row is a sign-in whose first step was right, and which waits for a code. It is no session, lasts five minutes and is used once.';
create index pending_sign_ins_of_account on accounts.pending_sign_ins (account_id);
create index pending_sign_ins_expires_at on accounts.pending_sign_ins (expires_at);

-- Passkeys (WebAuthn). A row has the public key alone, which is no secret.

create table accounts.passkeys (
  id            text primary key check (id ~ '^psk_[a-z2-7]{20}$'),
  account_id    text not null references accounts.accounts on delete cascade,
  -- In base64url, of at most 1,023 bytes.
  credential_id text not null unique check (length(credential_id) <= 1364 and credential_id ~ '^[A-Za-z0-9_-]+$'),
  public_key    bytea not null check (length(public_key) between 1 and 2000),             -- COSE
  sign_count    bigint not null check (sign_count between 0 and 4294967295),              -- of the last sign-in; 0 with most authenticators
  name          text not null check (length(name) between 1 and 100),
  created_at    timestamptz not null,
  last_used_at  timestamptz
);
comment on table accounts.passkeys is
  'A row is a passkey of an account.';
create index passkeys_of_account on accounts.passkeys (account_id, created_at);

create table accounts.passkey_challenges (
  hash       text primary key check (hash ~ '^[0-9a-f]{64}$'),               -- SHA-256 of the challenge
  account_id text references accounts.accounts on delete cascade,            -- that adds a passkey; null: to sign in
  session_id text references accounts.sessions on delete cascade,            -- that adds it; its end deletes the challenge
  credential_version integer,                                                -- of the account, when the challenge was made
  expires_at timestamptz not null,
  check ((account_id is null) = (session_id is null)),
  check ((account_id is null) = (credential_version is null))
);
comment on table accounts.passkey_challenges is
  'A row is a challenge that a passkey is to sign. It lasts five minutes and is used once.';
create index passkey_challenges_expires_at on accounts.passkey_challenges (expires_at);
create index passkey_challenges_account_id on accounts.passkey_challenges (account_id) where account_id is not null;
create index passkey_challenges_session_id on accounts.passkey_challenges (session_id) where session_id is not null;
