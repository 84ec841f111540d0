-- An account that a payment without a session has made is its payer's alone: its e-mail address is as the payer typed it, may be that of
-- another account, and signs nobody in until a mailed link proves it.
-- safe: every account signs in by the default, so that none violates the check, and accounts are few: it takes moments.
alter table accounts.accounts
  add column email_signs_in boolean not null default true,
  -- The plan that applies again when the subscription ends. Unused while there is no subscription.
  add column plan_set_aside text check (plan_set_aside ~ '^[a-z][a-z0-9_-]{0,31}$'),
  add constraint accounts_unproved_check
    check (email_signs_in or (email_verified_at is null and password_hash is null and role is null));

-- One account signs in by an e-mail address, in any letter case.
drop index accounts.accounts_email;
-- safe: accounts are few, and an index of a million takes a second or two, while which sign-ups wait.
create unique index accounts_email on accounts.accounts (lower(email)) where email_signs_in;
-- safe: as above. The version before finds one account by an address until this version makes the second.
create index accounts_by_email on accounts.accounts (lower(email), id);
