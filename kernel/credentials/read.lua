-- Reads an entry of the credential cache. Needs `replid`.
-- KEYS: the entry. Gives its value, or nil where there is no valid one: none, one that is too old or was written on a server of
-- another replication id, or the dirty marker.
local entry = redis.call('hmget', KEYS[1], 'replid', 'until', 'value')
if not entry[1] or entry[3] == '?' then return nil end
local now = redis.call('time')
if now[1] * 1000 + now[2] / 1000 > tonumber(entry[2]) then return nil end
if entry[1] ~= replid then return nil end
return entry[3]
