-- Who made a load: the role of the database, where it connected from, its program, and the account of an operator who did it by the API.

-- Rows of before have none. The account is a setting of the transaction, so that whatever it loads is recorded with it.
alter table data.loads add column loaded_by text check (length(loaded_by) between 1 and 500);
alter table data.loads alter column loaded_by set default concat_ws(' ', session_user, 'from',
  coalesce(host(inet_client_addr()), 'this machine'), 'by ' || nullif(current_setting('application_name'), ''),
  'for ' || nullif(current_setting('almanac.account', true), ''));
