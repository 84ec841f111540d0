-- Loads of tables whose rows nothing else refers to can be retracted: for that, it is kept what each load states of which row.
-- The value of a cell is what the newest load in force states of it (docs/decisions/0013-undo.md).

-- Rows have numbers, which they keep while they are gone. load_no is the load that made the row what it is. Both are null in a row that
-- no load has changed since this migration.
create sequence data.row_nos;
alter table data.navs              add column row_no bigint, add column load_no bigint;
alter table data.payouts           add column row_no bigint, add column load_no bigint;
alter table data.expenses          add column row_no bigint, add column load_no bigint;
alter table data.security_prices   add column row_no bigint, add column load_no bigint;
alter table data.security_trades   add column row_no bigint, add column load_no bigint;
alter table data.auctions          add column row_no bigint, add column load_no bigint;
alter table data.trade             add column row_no bigint, add column load_no bigint;
alter table data.trade_commodities add column row_no bigint, add column load_no bigint;

-- The columns of these tables that a load states; null: it is a load of points, of another table, or of an older version.
alter table data.loads add column states_columns text[];

-- What rows were before a load changed or deleted them.
create table data.replaced_rows (
  row_no      bigint not null,
  load_no     bigint,                                        -- the load that had made it so; null: of an older version
  replaced_by bigint not null references data.loads,
  content     jsonb  not null check (jsonb_typeof(content) = 'object'), -- its cells by column
  primary key (row_no, replaced_by)
);
create index replaced_rows_by_load on data.replaced_rows (load_no);

-- The rows that a load states again without changing them, as ranges of their numbers.
create table data.row_statements (
  load_no bigint not null references data.loads,
  rows    int8range not null check (not isempty(rows)),
  primary key (load_no, rows)
);
create index row_statements_by_row on data.row_statements using gist (rows);

-- Rows that are gone, by their keys: one that comes back has its number again.
create table data.absent_rows (
  row_no  bigint primary key,
  dataset text  not null check (length(dataset) between 1 and 64),
  key     jsonb not null check (jsonb_typeof(key) = 'array'),
  unique (dataset, key)
);

-- Rows of these tables were never deleted: what is derived from them must now follow.
create trigger figures_are_due_of_gone after delete on data.navs
  referencing old table as new_rows for each statement execute function data.figures_are_due();
create trigger figures_are_due_of_gone after delete on data.payouts
  referencing old table as new_rows for each statement execute function data.figures_are_due();
create trigger figures_are_due_of_gone after delete on data.expenses
  referencing old table as new_rows for each statement execute function data.figures_are_due();

-- As before, but a security without a price has no last one.
create or replace function data.keep_last_prices() returns trigger language plpgsql as $$
begin
  update data.securities s
  set last_price = p.price, last_yield_pct = p.yield_pct, last_price_date = p.date, last_traded = p.traded
  from (select distinct code from new_rows) changed left join lateral (
    select * from data.security_prices p
    where p.code = changed.code and (p.price is not null or p.dirty_price is not null or p.yield_pct is not null)
    order by p.date desc limit 1) p on true
  where s.code = changed.code and (s.last_price, s.last_yield_pct, s.last_price_date, s.last_traded)
    is distinct from (p.price, p.yield_pct, p.date, p.traded);
  return null;
end $$;
create trigger keep_last_prices_of_gone after delete on data.security_prices
  referencing old table as new_rows for each statement execute function data.keep_last_prices();

-- A total of which no row is left goes too. Triggers run in the order of their names.
create function data.drop_trade_totals() returns trigger language plpgsql as $$
begin
  delete from data.trade_totals t
  using (select distinct reporter, flow, classification, basis, currency, period from new_rows) g
  where (t.reporter, t.flow, t.classification, t.basis, t.currency, t.period)
    = (g.reporter, g.flow, g.classification, g.basis, g.currency, g.period);
  return null;
end $$;
create trigger drop_trade_totals_of_gone after delete on data.trade
  referencing old table as new_rows for each statement execute function data.drop_trade_totals();
create trigger keep_trade_totals_of_gone after delete on data.trade
  referencing old table as new_rows for each statement execute function data.keep_trade_totals();
