-- One worker at a time sends to an endpoint, under a lease, so it reads many messages at once and writes nothing before it sends them.
alter table accounts.webhooks
  add column sender       text check (length(sender) <= 40),                      -- the worker that sends to it
  add column sender_until timestamptz,                                            -- then another may, unless it is extended
  add constraint webhooks_sender check ((sender is null) = (sender_until is null));

drop index accounts.webhook_messages_claimed_until;

-- The messages of a deleted endpoint are deleted by the worker, some at a time: there may be millions.
alter table accounts.webhook_messages
  drop column claimed_until,
  drop constraint webhook_messages_webhook_id_fkey;
