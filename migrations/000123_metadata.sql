-- Where the terms of use of a series and its methods can be read.
alter table data.series add column licence_url text
  check (licence_url ~ '^https://[^[:space:]]+$' and length(licence_url) <= 2000);
alter table data.series add column methodology_url text
  check (methodology_url ~ '^https://[^[:space:]]+$' and length(methodology_url) <= 2000);

-- Footnotes of a series and of its points, as they are now: they have no vintages. A note is on every point that has its date and
-- includes its dimension values.
create table data.footnotes (
  series_no integer not null references data.series on delete cascade,
  date      date  not null default '-infinity',                 -- of the point; -infinity: the note is on the series
  dims      jsonb not null default '{}' check (jsonb_typeof(dims) = 'object'),
  mark      text  not null default '' check (length(mark) <= 16), -- such as 1 or *, as published
  text      text  not null check (length(text) between 1 and 2000),
  primary key (series_no, date, dims, mark)
);

-- A series tells its footnotes: a change of one is a change of the series, as with its labels.
create trigger change_series_of_new_footnotes after insert on data.footnotes
  referencing new table as changed_rows for each statement execute function data.change_labelled_series();
create trigger change_series_of_changed_footnotes after update on data.footnotes
  referencing new table as changed_rows for each statement execute function data.change_labelled_series();
create trigger change_series_of_gone_footnotes after delete on data.footnotes
  referencing old table as changed_rows for each statement execute function data.change_labelled_series();

-- An entry of the calendar is one date of a release that comes out again and again. What has the same source and the same publication,
-- which is the title unless it is given, is one release.
alter table data.releases add column publication text check (length(publication) between 1 and 500);
create index if not exists releases_by_publication on data.releases (coalesce(publication, title), release_at);
