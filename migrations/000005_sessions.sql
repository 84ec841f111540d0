-- How people get in: passwords, sessions, links by mail, sign-ups that wait for theirs, and Google.
-- Of every secret that leaves the service (session, mailed link, Google hand-over) only the SHA-256 is here.

alter table accounts.accounts
  add column password_hash text check (password_hash like '$argon2id$%'),  -- null: signs in by Google, or not yet
  add column email_verified_at timestamptz,                                -- null: nobody has shown to own the mailbox
  -- Increases with every change of password or e-mail address, which invalidates what was mailed before.
  add column credential_version integer not null default 1 check (credential_version > 0);

-- The operator vouches for the e-mail addresses of the accounts that were made so far.
update accounts.accounts set email_verified_at = created_at;

-- Whoever is signed in. A row that is gone is a session that has ended: logout deletes it.
create table accounts.sessions (
  id          text primary key check (id ~ '^sess_[a-z2-7]{16}$'),
  account_id  text not null references accounts.accounts on delete cascade,
  secret_hash text not null check (secret_hash ~ '^[0-9a-f]{64}$'),       -- SHA-256 of the token's second half
  created_at  timestamptz not null,
  last_seen_at        timestamptz not null,                               -- at most once in five minutes
  idle_expires_at     timestamptz not null,                               -- moves with last_seen_at
  absolute_expires_at timestamptz not null check (absolute_expires_at > created_at),
  auth_time   timestamptz not null,                                       -- when a password or Google last proved who it is
  ip          text not null check (length(ip) <= 64),
  user_agent  text not null check (length(user_agent) <= 256)
);

create index sessions_of_account on accounts.sessions (account_id, created_at);
create index sessions_absolute_expires_at on accounts.sessions (absolute_expires_at);

-- Sign-ups that wait for the click in their mail. Each has a row of its own, also for the same e-mail address: whoever owns the
-- mailbox and knows the password of a row gets the account, so nobody can prepare one for somebody else.
create table accounts.signups (
  id            text primary key check (id ~ '^sup_[a-z2-7]{20}$'),
  email         text not null check (length(email) between 3 and 254),
  name          text check (length(name) between 1 and 100),
  password_hash text not null check (password_hash like '$argon2id$%'),
  created_at    timestamptz not null,
  expires_at    timestamptz not null
);

create index signups_expires_at on accounts.signups (expires_at);

-- Mailed links. Minted when the mail is sent, used once.
create table accounts.mail_tokens (
  hash       text primary key check (hash ~ '^[0-9a-f]{64}$'),
  purpose    text not null check (purpose in ('sign_up', 'verify_email', 'change_email', 'reset_password')),
  signup_id  text references accounts.signups on delete cascade,
  account_id text references accounts.accounts on delete cascade,
  email      text not null check (length(email) between 3 and 254),        -- the mailbox that it proves
  credential_version integer,                                              -- of the account, when it was minted
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at    timestamptz,
  check ((purpose = 'sign_up') = (signup_id is not null)),
  check ((purpose = 'sign_up') = (account_id is null)),
  check ((account_id is null) = (credential_version is null))
);

create index mail_tokens_expires_at on accounts.mail_tokens (expires_at);
create index mail_tokens_of_account on accounts.mail_tokens (account_id);

-- Google identities. The pair is the identity; the e-mail address is never a key, since e-mail addresses change hands.
create table accounts.identities (
  issuer     text not null check (length(issuer) <= 255),
  subject    text not null check (length(subject) between 1 and 255),
  account_id text not null references accounts.accounts on delete cascade,
  email      text not null check (length(email) <= 254),                   -- as the issuer gave it when it was linked
  created_at timestamptz not null,
  primary key (issuer, subject),
  unique (account_id, issuer)
);

-- Ways to Google and back, for ten minutes. State, cookie and code are hashed; nonce and PKCE verifier are derived from the
-- cookie, so they are nowhere.
create table accounts.google_flows (
  state_hash  text primary key check (length(state_hash) = 64),
  cookie_hash text not null check (length(cookie_hash) = 64),              -- binds the flow to one browser
  return_to   text not null check (length(return_to) <= 512),
  link_account_id text references accounts.accounts on delete cascade,     -- null: to sign in
  expires_at  timestamptz not null,
  used_at     timestamptz,                                                 -- when Google sent the browser back
  code_hash   text unique check (length(code_hash) = 64),                  -- of the one-time code for the dashboard
  code_account_id text references accounts.accounts on delete cascade,
  code_expires_at timestamptz,
  check ((code_hash is null) = (code_account_id is null)),
  check ((code_hash is null) = (code_expires_at is null))
);

create index google_flows_expires_at on accounts.google_flows (expires_at);

-- visitor: somebody who proved a password, a mailed link or a Google identity without being signed in.
alter table accounts.audit_events
  drop constraint audit_events_actor_kind_check,
  drop constraint audit_events_check,
  add constraint audit_events_actor_kind_check check (actor_kind in ('key', 'session', 'operator', 'visitor')),
  add constraint audit_events_check check ((actor_kind in ('operator', 'visitor')) = (actor_id is null));
