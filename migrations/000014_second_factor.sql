-- Two-factor sign-in: the secrets of authenticator apps, recovery codes, and sign-ins that wait for their second step. A secret is needed to
-- check codes, so it is encrypted instead of hashed, as those of webhooks are.

create table accounts.authenticators (
  account_id   text primary key references accounts.accounts on delete cascade,
  secret       text not null check (length(secret) <= 200),   -- encrypted, after the id of the key
  created_at   timestamptz not null,
  confirmed_at timestamptz,                                    -- null: no code of it has come yet, so it does not count
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
