-- How much of a month was served, and when an account reached 50, 80 and 100 % of its limit.

-- Calls answered 2xx or 304, as the ledger has them; unlike `used` without those under way and those in allotments.
alter table accounts.quota_months add column served bigint not null default 0 check (served >= 0);

update accounts.quota_months as quota
set served = coalesce((select sum(billed) from accounts.usage_daily as usage
                       where usage.account_id = quota.account_id
                         and day >= month and day < month + interval '1 month'), 0);

-- Written in the transaction that settles the call which reached it: once an account, month, limit and part of it. Whoever is
-- to hear of it, by mail or otherwise, hears of it from here.
create table accounts.usage_thresholds (
  account_id  text not null references accounts.accounts on delete cascade,
  month       date not null check (extract(day from month) = 1),
  calls_month bigint not null check (calls_month > 0),           -- the limit at that moment: a changed plan begins anew
  percent     smallint not null check (percent in (50, 80, 100)),
  served      bigint not null,                                   -- after the batch that reached it
  reached_at  timestamptz not null,
  mailed_at   timestamptz,                                       -- when the mail was written down; null: not yet
  primary key (account_id, month, calls_month, percent)
);

create index usage_thresholds_to_mail on accounts.usage_thresholds (reached_at) where mailed_at is null;
