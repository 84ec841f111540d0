-- Content of a source that has ended the process which read it is not read again until it changes.
alter table embargo.sources add column ended_sha256 text check (ended_sha256 ~ '^[0-9a-f]{64}$');
