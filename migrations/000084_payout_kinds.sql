-- A fund may pay out twice in one way on one day, as income and as a gain: the kind tells them apart. A split gives new units for old.
alter table data.payouts
  add column kind text not null default 'regular' check (kind ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(kind) <= 80),
  add column record_date date,                                          -- whose holders of that day are paid
  add column split_ratio numeric check (split_ratio > 0 and split_ratio < 'infinity'), -- new units for an old one
  drop constraint payouts_pkey,
  add primary key (fund_no, ex_date, type, kind),
  drop constraint payouts_type_check,
  add constraint payouts_type_check check (type in ('cash', 'bonus', 'reinvest', 'split')),
  add constraint payouts_split_check check ((type = 'split') = (split_ratio is not null));
