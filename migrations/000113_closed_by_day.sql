-- What a series published on one day is one range of this index: an old vintage is read without a lookup for each point that was
-- revised since. Only closed rows stand in it, so a new point costs a load nothing.
create index observations_closed_by_day on data.observations (series_no, published_on, dims_no, date)
  where superseded_on <> 'infinity';
