-- Exchanges between gateways how many calls of a client they have allowed in a second.
-- KEYS: a hash, gateway → its calls; its name includes the second. ARGV: the gateway, its calls so far. Returns the calls of all others.
-- A gateway sends its total, so a message may be repeated.
redis.call('hset', KEYS[1], ARGV[1], ARGV[2])
redis.call('expire', KEYS[1], 5) -- a second, and as much as the clocks of gateways may differ
local others, entries = 0, redis.call('hgetall', KEYS[1])
for i = 1, #entries, 2 do
  if entries[i] ~= ARGV[1] then others = others + entries[i + 1] end
end
return others
