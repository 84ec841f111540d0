-- Draws calls of a month from an allotment. Needs `replid`.
-- KEYS: the allotment. ARGV: calls wanted; the limit of the month, or '' for none; an id for a new allotment; an instant of Redis's
-- clock, in ms, after which nothing may be drawn; then, after a top-up, else empty: the id of the allotment that was topped up, the
-- total ever granted to it, the calls charged to the month elsewhere.
-- Returns the allotment's id, the calls drawn, the totals granted and drawn, the calls charged elsewhere; or nil if it is too late.
-- An allotment of another replication id may lack the last draws, so a new one replaces it.
local now = redis.call('time')
if now[1] * 1000 + now[2] / 1000 > tonumber(ARGV[4]) then return nil end
local allotment = redis.call('hmget', KEYS[1], 'replid', 'id', 'granted', 'drawn', 'elsewhere')
if allotment[1] ~= replid then
  redis.call('del', KEYS[1])
  redis.call('hset', KEYS[1], 'replid', replid, 'id', ARGV[3], 'granted', 0, 'drawn', 0, 'elsewhere', 0)
  redis.call('expire', KEYS[1], 35 * 24 * 3600)
  allotment = { replid, ARGV[3], 0, 0, 0 }
end
local granted, drawn, elsewhere = tonumber(allotment[3]), tonumber(allotment[4]), tonumber(allotment[5])
if ARGV[5] == allotment[2] then
  granted = math.max(granted, tonumber(ARGV[6]))
  elsewhere = tonumber(ARGV[7])
  redis.call('hset', KEYS[1], 'granted', granted, 'elsewhere', elsewhere)
end
local free = granted - drawn
if ARGV[2] ~= '' then free = math.min(free, tonumber(ARGV[2]) - elsewhere - drawn) end
local taken = math.max(0, math.min(tonumber(ARGV[1]), free))
if taken > 0 then drawn = redis.call('hincrby', KEYS[1], 'drawn', taken) end
return { allotment[2], taken, granted, drawn, elsewhere }
