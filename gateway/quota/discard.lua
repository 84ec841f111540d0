-- Removes an allotment, if its id is still the given one.
-- KEYS: the allotment. ARGV: its id.
if redis.call('hget', KEYS[1], 'id') == ARGV[1] then redis.call('del', KEYS[1]) end
return 1
