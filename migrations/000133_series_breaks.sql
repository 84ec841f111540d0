-- Breaks of series: from a date on, the points are in another unit. The series' own unit is that of the points after its last break.
create table data.series_breaks (
  series_no            integer not null references data.series on delete cascade,
  date                 date    not null,                                              -- the first that is in the new unit
  from_unit            text    not null check (length(from_unit) between 1 and 200),  -- of the points before
  from_unit_multiplier integer check (from_unit_multiplier between -30 and 30),
  note                 text    check (length(note) between 1 and 2000),
  declared_on          date    not null,                                              -- earlier vintages do not have the break
  load_no              bigint  not null references data.loads,                        -- nor do earlier loads
  primary key (series_no, date)
);
