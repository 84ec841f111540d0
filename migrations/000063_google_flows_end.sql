-- A flow to Google ends with what it began with: the session that asks to link, and the account's credentials. Flows last ten
-- minutes, so the few under way are dropped here and begun again.

delete from accounts.google_flows;

alter table accounts.google_flows
  add column session_id text references accounts.sessions on delete cascade,  -- that began to link; a session that ends takes the flow along
  add column credential_version integer,                                      -- of the account to link or to sign in to, when that was decided
  add check ((link_account_id is null) = (session_id is null)),
  add check ((link_account_id is null and code_account_id is null) = (credential_version is null)),
  add check (link_account_id is null or code_account_id is null);

-- For the cascades, and for what ends all flows of an account.
create index google_flows_session_id on accounts.google_flows (session_id) where session_id is not null;
create index google_flows_link_account_id on accounts.google_flows (link_account_id) where link_account_id is not null;
create index google_flows_code_account_id on accounts.google_flows (code_account_id) where code_account_id is not null;
