-- What the values of dimensions are called, where they are codes: told beside the values, never in their place.
create table data.dimension_labels (
  series_no  integer not null references data.series on delete cascade,
  dimension  text not null check (length(dimension) between 1 and 63),
  value      text not null check (length(value) between 1 and 200),
  label      text not null check (length(label) between 1 and 300),
  primary key (series_no, dimension, value)
);

-- A series tells the labels of its dimensions, and prices those of their cities: a change of one is a change of the series.
create function data.change_labelled_series() returns trigger language plpgsql as $$
begin
  update data.series set updated_at = now() where series_no in (select series_no from changed_rows);
  return null;
end $$;
create trigger change_series_of_new_labels after insert on data.dimension_labels
  referencing new table as changed_rows for each statement execute function data.change_labelled_series();
create trigger change_series_of_changed_labels after update on data.dimension_labels
  referencing new table as changed_rows for each statement execute function data.change_labelled_series();

create function data.change_priced_series() returns trigger language plpgsql as $$
begin
  update data.series s set updated_at = now() from data.commodity_items i where i.series_no = s.series_no;
  return null;
end $$;
create trigger change_series_of_cities after update on data.commodity_cities
  for each statement execute function data.change_priced_series();
