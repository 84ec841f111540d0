-- Which load a published file was loaded by: once that is retracted, almanac publish loads the file again.
alter table data.published_files
  add column load_no bigint references data.loads; -- the first of the file's loads; null: of an older version, or it had no rows
