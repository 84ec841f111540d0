-- Tells an allotment how calls of a gateway have ended, and that the gateway runs. Needs ended.lua as `ended` and
-- lapsed.lua as `lapsed`.
-- KEYS: the allotment. ARGV: its id, the gateway's share, the totals served and put back.
-- Returns 1; or 0 if the allotment is another, or the share has lapsed: then its calls under way may have been drawn by others.
local share = 'share:' .. ARGV[2]
local allotment = redis.call('hmget', KEYS[1], 'id', 'drawn', share)
if allotment[1] ~= ARGV[1] then return 0 end
if not allotment[3] then
  redis.call('hincrby', KEYS[1], 'drawn', lapsed(KEYS, { ARGV[2], ARGV[3] }))
  return 0
end
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local mine = ended({ allotment[3] }, { ARGV[3], ARGV[4] })
local value = string.format('%d %d %d %d', mine[1], mine[2], mine[3], now)
redis.call('hset', KEYS[1], 'drawn', string.format('%d', allotment[2] - mine[4]), share, value)
return 1
