-- Removes an allotment, if it is still the one of an id.
-- KEYS: the allotment. ARGV: its id.
if redis.call('hget', KEYS[1], 'id') == ARGV[1] then redis.call('del', KEYS[1]) end
return 1
