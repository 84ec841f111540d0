-- A series that was merged into another keeps its row and its history, and is served to nobody by itself. Its ids are aliases of the other
-- one from then on; by them, what was published before the merge is read from merged_from.
alter table data.series_aliases
  add column merged_from integer references data.series, -- the alias was an id of that series; null: an earlier id of its own
  add column merged_on   date,                           -- as of earlier days it still is
  add column merged_by   bigint references data.loads,   -- pinned to earlier loads it still is
  add constraint series_aliases_merged_check check ((merged_from is null) = (merged_on is null) and (merged_by is null or merged_from is not null));
