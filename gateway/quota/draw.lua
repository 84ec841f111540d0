-- Draws calls of a month from an allotment. Needs server.lua, ended.lua as `ended` and lapsed.lua as `lapsed`.
-- KEYS: the allotment. ARGV: the calls wanted, as runs of "<requests> <calls of each>"; the limit of the month, or '' for none; an id
-- for a new allotment; an instant of Redis's clock, in ms, after which nothing may be drawn; the gateway's share, and its totals served
-- and put back; then, only after a top-up: the id of the allotment that was topped up, the total ever granted to it, the calls
-- charged to the month elsewhere.
-- Returns the allotment's id, how many requests of each run were given their calls, the totals granted and drawn, the calls charged
-- elsewhere, and if not all were given, how many calls are under way; or nil if it is too late.
-- A request gets all its calls or none. An allotment of another replication id may lack the last draws, so a new one replaces it.
local lapsedAfterMs = 75000 -- a gateway serves no call 60 s after it was last seen
local forgottenAfterMs = 3600000 -- so long a gateway may be cut off from Redis, and calls that it served before are still counted
local now = math.floor(nowMs)
if now > tonumber(ARGV[4]) then return nil end
local share = 'share:' .. ARGV[5]
local allotment = redis.call('hmget', KEYS[1], 'replid', 'id', 'granted', 'drawn', 'elsewhere', share)
if allotment[1] ~= replid then
  redis.call('del', KEYS[1])
  redis.call('hset', KEYS[1], 'replid', replid, 'id', ARGV[3], 'granted', 0, 'drawn', 0, 'elsewhere', 0)
  redis.call('expire', KEYS[1], 35 * 24 * 3600)
  allotment = { replid, ARGV[3], 0, 0, 0, false }
end
local granted, drawn, elsewhere = tonumber(allotment[3]), tonumber(allotment[4]), tonumber(allotment[5])
if ARGV[8] == allotment[2] then
  granted = math.max(granted, tonumber(ARGV[9]))
  elsewhere = tonumber(ARGV[10])
  redis.call('hset', KEYS[1], 'granted', granted, 'elsewhere', elsewhere)
end
local mine = allotment[6] and ended({ allotment[6] }, { ARGV[6], ARGV[7] })
  or { 0, ARGV[6], ARGV[7], -lapsed(KEYS, { ARGV[5], ARGV[6] }) }
drawn = drawn - mine[4]

local wanted, underWay = 0, 0
for requests, calls in string.gmatch(ARGV[1], '(%d+) (%d+)') do wanted = wanted + requests * calls end
local most = granted
if ARGV[2] ~= '' then most = math.min(granted, tonumber(ARGV[2]) - elsewhere) end
if most - drawn < wanted then
  local fields = redis.call('hgetall', KEYS[1])
  for i = 1, #fields, 2 do
    if fields[i] ~= share and string.sub(fields[i], 1, 6) == 'share:' then
      local calls, served, seen = string.match(fields[i + 1], '^(%d+) (%d+) %d+ (%d+)$')
      if now - seen > lapsedAfterMs then
        redis.call('hdel', KEYS[1], fields[i]) -- its gateway has ended: what it had under way can be drawn
        redis.call('hset', KEYS[1], 'lapsed:' .. string.sub(fields[i], 7), string.format('%s %d', served, now))
        drawn = drawn - calls
      else
        underWay = underWay + calls
      end
    elseif string.sub(fields[i], 1, 7) == 'lapsed:' and now - string.match(fields[i + 1], '%d+$') > forgottenAfterMs then
      redis.call('hdel', KEYS[1], fields[i])
    end
  end
end

local given, taken = {}, 0
for requests, calls in string.gmatch(ARGV[1], '(%d+) (%d+)') do
  local fit = math.max(0, math.min(requests, math.floor((most - drawn - taken) / calls)))
  given[#given + 1] = fit
  taken = taken + fit * calls
end
local value = string.format('%d %d %d %d', mine[1] + taken, mine[2], mine[3], now)
redis.call('hset', KEYS[1], 'drawn', string.format('%d', drawn + taken), share, value)
underWay = taken < wanted and underWay + mine[1] + taken or 0
return { allotment[2], given, granted, drawn + taken, elsewhere, underWay }
