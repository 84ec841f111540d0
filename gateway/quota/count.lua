-- Counts calls in a window, as rate-limiter-flexible does by a script of its own.
-- KEYS: the counter. ARGV: how many calls, the window in seconds. Gives all calls of the window, and the ms that it has left.
redis.call('set', KEYS[1], 0, 'EX', ARGV[2], 'NX')
local counted, leftMs = redis.call('incrby', KEYS[1], ARGV[1]), redis.call('pttl', KEYS[1])
if leftMs == -1 then -- somebody else's, which would never end
  redis.call('expire', KEYS[1], ARGV[2])
  leftMs = 1000 * ARGV[2]
end
return { counted, leftMs }
