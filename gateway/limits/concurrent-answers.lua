-- Exchanges between gateways how many long-running answers each account has.
-- KEYS: a hash, gateway → the time of its last exchange and its counts. ARGV: the gateway, its counts as JSON or '' for none, and for how
-- many ms the counts of a gateway are valid. Returns the valid counts of all other gateways, and deletes those that are no longer valid.
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[2] == '' then
  redis.call('hdel', KEYS[1], ARGV[1])
else
  redis.call('hset', KEYS[1], ARGV[1], string.format('%d %s', now, ARGV[2]))
  redis.call('pexpire', KEYS[1], ARGV[3])
end
local others, entries = {}, redis.call('hgetall', KEYS[1])
for i = 1, #entries, 2 do
  if entries[i] ~= ARGV[1] then
    local space = string.find(entries[i + 1], ' ', 1, true)
    if now - tonumber(string.sub(entries[i + 1], 1, space - 1)) > tonumber(ARGV[3]) then
      redis.call('hdel', KEYS[1], entries[i])
    else
      others[#others + 1] = string.sub(entries[i + 1], space + 1)
    end
  end
end
return others
