-- A vintage is what changed between the end of its day and the day before, whatever the order of the loads. Loads see to that from
-- now on; the histories that were loaded in another order, or of one day twice, are brought to the same form.

-- The earliest load whose end of a value this load took back, within a day: states of the data from that load until this one cannot
-- be read any more. Null for most.
alter table data.vintages add column takes_back bigint;

create temp table rewritten on commit drop as
  select distinct series_no from (
    select series_no, published_on, lag(published_on) over (partition by series_no order by load_no) as before
    from data.vintages) v
  where published_on <= before
  union
  select distinct d.series_no from data.confirmations f join data.series_dims d using (series_no, dims_no)
    join data.vintages v using (series_no)
  where v.load_no > f.load_no and v.published_on < f.published_on;

-- Adjacent rows of a point that state the same become one, and the days of the others confirmations.
create temp table runs on commit drop as
  with linked as (
    select o.*, o.ctid as row_id, coalesce(lag(o.superseded_on) over point = o.published_on
        and lag(o.value) over point is not distinct from o.value
        and lag(o.status) over point is not distinct from o.status, false) as continues
    from data.observations o join rewritten using (series_no) where o.published_on < o.superseded_on
    window point as (partition by o.series_no, o.dims_no, o.date order by o.published_on)
  ), numbered as (
    select *, count(*) filter (where not continues) over point as run, lead(continues) over point as is_continued
    from linked window point as (partition by series_no, dims_no, date order by published_on)
  )
  select * from numbered where continues or is_continued;

insert into data.confirmations (series_no, dims_no, published_on, load_no, dates)
  select series_no, dims_no, published_on, (select max(load_no) from data.loads), range_agg(daterange(date, date, '[]'))
  from runs where continues group by series_no, dims_no, published_on
  on conflict (series_no, dims_no, published_on, load_no) do update set dates = confirmations.dates + excluded.dates;
delete from data.observations o using runs r where o.ctid = r.row_id and r.continues;
update data.observations o set superseded_on = m.superseded_on, superseded_load_no = m.superseded_load_no
  from (select (array_agg(row_id order by published_on))[1] as row_id, max(superseded_on) as superseded_on,
          (array_agg(superseded_load_no order by published_on desc))[1] as superseded_load_no
        from runs group by series_no, dims_no, date, run) m
  where o.ctid = m.row_id;

-- The counts of a day are kept in the row of its newest load.
update data.vintages v set points_new = 0, points_revised = 0, points_deleted = 0
  from rewritten r where r.series_no = v.series_no;
insert into data.vintages (series_no, published_on, load_no, complete, points_new, points_revised, points_deleted)
  select series_no, day, coalesce(
      (select max(v.load_no) from data.vintages v where v.series_no = e.series_no and v.published_on = day),
      (select max(f.load_no) from data.series_dims d join data.confirmations f using (series_no, dims_no)
         join data.loads l on l.load_no = f.load_no
       where d.series_no = e.series_no and f.published_on = day and l.vintage = day)),
    false, count(*) filter (where begins and not ends), count(*) filter (where begins and ends),
    count(*) filter (where not begins)
  from (
    select o.series_no, b.day, bool_or(b.is_begin) as begins, bool_or(not b.is_begin) as ends
    from data.observations o join rewritten using (series_no)
    cross join lateral (values (o.published_on, true), (o.superseded_on, false)) b (day, is_begin)
    where o.published_on < o.superseded_on and b.day < 'infinity'
    group by o.series_no, o.dims_no, o.date, b.day) e
  group by series_no, day
  on conflict (series_no, published_on, load_no) do update set points_new = excluded.points_new,
    points_revised = excluded.points_revised, points_deleted = excluded.points_deleted;

-- Every state before is taken back for whoever still reads one; the facts of the series follow from the counts.
update data.vintages v set takes_back = 0
  from (select series_no, max(load_no) as load_no from data.vintages join rewritten using (series_no) group by series_no) newest
  where (v.series_no, v.load_no) = (newest.series_no, newest.load_no);
update data.series s set updated_at = now(), last_updated = (
    select max(v.published_on) from data.vintages v
    where v.series_no = s.series_no and v.points_new + v.points_revised + v.points_deleted > 0)
  from rewritten r where r.series_no = s.series_no;
