-- Writes an entry of the credential cache, unless a newer one is there. Needs `replid`.
-- KEYS: the entry. ARGV: its revision; its value; the replication id that the cache is written under, or '' for whichever the server
-- has; for how many ms the entry is valid; for how many seconds it is kept.
-- Gives 1 where the entry stands now, 0 where a newer one does; the server's replication id where that is another: nothing has
-- changed then.
if ARGV[3] ~= '' and ARGV[3] ~= replid then return replid end
local before = redis.call('hget', KEYS[1], 'revision')
if before and tonumber(before) > tonumber(ARGV[1]) then return 0 end
local now = redis.call('time')
redis.call('hset', KEYS[1], 'revision', ARGV[1], 'value', ARGV[2], 'replid', replid,
  'until', string.format('%.0f', now[1] * 1000 + now[2] / 1000 + ARGV[4]))
redis.call('expire', KEYS[1], ARGV[5])
return 1
