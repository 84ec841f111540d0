-- Where a series goes on as another one, of another frequency: a series has one frequency, by which its points are dated.
create table data.series_continuations (
  series_no    integer primary key references data.series on delete cascade,
  date         date    not null,                                             -- from then on its points are those of the other series
  continued_by integer not null references data.series on delete cascade,
  note         text    check (length(note) between 1 and 2000),
  declared_on  date    not null,                                             -- earlier vintages do not have it
  load_no      bigint  not null references data.loads,                       -- nor do earlier loads
  constraint series_continuations_check check (continued_by <> series_no)
);
create index series_continuations_by_successor on data.series_continuations (continued_by);

-- Each of both series tells readers the id and the frequency of the other, unless that is deleted: a change of these is one of both.
create function data.change_continuations() returns trigger language plpgsql as $$
begin
  update data.series set updated_at = now() where series_no in (
    select continued_by from data.series_continuations where series_no = new.series_no
    union select series_no from data.series_continuations where continued_by = new.series_no);
  return null;
end $$;
create trigger change_continuations after update of series_id, frequency, deleted_on on data.series
  for each row when ((old.series_id, old.frequency, old.deleted_on) is distinct from (new.series_id, new.frequency, new.deleted_on))
  execute function data.change_continuations();
