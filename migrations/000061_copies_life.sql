-- Which life of which Redis server the copies of this generation are made on; null: none yet. Whoever finds itself on another
-- one, as after a failover that others have not heard of, begins a new generation: no gateway then believes the old server.
alter table accounts.copies add column life text;
