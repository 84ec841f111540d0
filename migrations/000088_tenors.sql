-- A reopened security runs for years and months: 9Y10M. The parts are in the order of years, months, weeks and days.
alter table data.auctions drop constraint auctions_tenor_check;
alter table data.auctions add constraint auctions_tenor_check
  check (tenor ~ '^([0-9]{1,4}Y)?([0-9]{1,4}M)?([0-9]{1,4}W)?([0-9]{1,4}D)?$' and tenor <> '');
