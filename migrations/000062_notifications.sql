-- Which mails an account holder wants, of those that nobody needs for the safety of the account.

alter table accounts.accounts
  add column mails_usage boolean not null default true,        -- half, 80 % and all of a month
  add column mails_key_expiry boolean not null default true;   -- a week before a key expires
