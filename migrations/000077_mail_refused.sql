-- The mark of an account whose mailbox takes no mail.

alter table accounts.accounts
  add column mail_refused_at timestamptz;   -- when a mail to it was last refused for good; null once one was taken
