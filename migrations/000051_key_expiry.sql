-- Whoever holds a key that is about to expire is told by mail, once.

alter table accounts.api_keys add column expiry_told_at timestamptz;

create index api_keys_to_tell on accounts.api_keys (expires_at)
  where expires_at is not null and revoked_at is null and expiry_told_at is null;
