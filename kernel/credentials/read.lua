-- Reads an entry of the credential cache. Needs server.lua.
-- KEYS: the entry. ARGV: for how many ms it is valid beyond its time; none by default.
-- Returns its value, or nil if it is missing, expired, written on a server with another replication id, or the dirty marker.
local entry = redis.call('hmget', KEYS[1], 'replid', 'until', 'value')
if not entry[1] or entry[3] == '?' then return nil end
if nowMs > entry[2] + (ARGV[1] or 0) then return nil end
if entry[1] ~= replid then return nil end
return entry[3]
