-- The replication id of the Redis server that the cache entries of this generation are on; null: none yet. An accounts-api on another
-- one, as after a failover that others have not noticed, begins a new generation: then no gateway uses the old server's entries.
alter table accounts.copies add column life text;
