-- Writes an entry of the credential cache, unless a newer one exists. Needs server.lua.
-- KEYS: the entry. ARGV: its revision; its value; the replication id of the cache's server, or '' to accept any; for how many ms the
-- entry is valid; for how many seconds it is kept.
-- Returns 1 if the entry was written, 0 if a newer one exists; or the server's replication id if it differs: then nothing has
-- changed.
if ARGV[3] ~= '' and ARGV[3] ~= replid then return replid end
local before = redis.call('hget', KEYS[1], 'revision')
if before and tonumber(before) > tonumber(ARGV[1]) then return 0 end
redis.call('hset', KEYS[1], 'revision', ARGV[1], 'value', ARGV[2], 'replid', replid,
  'until', string.format('%.0f', nowMs + ARGV[4]))
redis.call('expire', KEYS[1], ARGV[5])
return 1
