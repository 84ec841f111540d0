-- Prepended to scripts that need `replid` or `nowMs`; read once, however many keys a script is for.
-- `replid` is the replication id of the server: it changes with every start and every failover, and is empty on a replica. `nowMs` is
-- the server's clock, in ms with a fraction.
local replid = string.match(redis.call('info', 'replication'), 'role:master.-master_replid:(%x+)') or ''
local serverTime = redis.call('time')
local nowMs = serverTime[1] * 1000 + serverTime[2] / 1000
