-- Prepended to scripts that need `replid`: the replication id of the server. It changes with every start and every failover, and is
-- empty on a replica.
local replid = string.match(redis.call('info', 'replication'), 'role:master.-master_replid:(%x+)') or ''
