-- Exchanges between gateways how many calls of each client they have allowed in a second.
-- KEYS: hashes, one a client: gateway → its calls; the name includes the second. ARGV: the gateway, and its calls so far of each client.
-- Returns the calls of all other gateways, for each client. A gateway sends its totals, so a message may be repeated.
local of_others = {}
for i, key in ipairs(KEYS) do
  redis.call('hset', key, ARGV[1], ARGV[i + 1])
  redis.call('expire', key, 5) -- a second, and as much as the clocks of gateways may differ
  local others, entries = 0, redis.call('hgetall', key)
  for j = 1, #entries, 2 do
    if entries[j] ~= ARGV[1] then others = others + entries[j + 1] end
  end
  of_others[i] = others
end
return of_others
