-- Counts calls in a window, as rate-limiter-flexible's own script does.
-- KEYS: the counter. ARGV: the number of calls, the window in seconds. Returns all calls of the window, and its remaining ms.
local counted = redis.call('incrby', KEYS[1], ARGV[1])
local leftMs = counted == tonumber(ARGV[1]) and -1 or redis.call('pttl', KEYS[1])
if leftMs == -1 then -- the first call of a window, or a key without expiry, set by others
  redis.call('expire', KEYS[1], ARGV[2])
  leftMs = 1000 * ARGV[2]
end
return { counted, leftMs }
