-- Counts what a gateway tells of a share that has lapsed: what it had under way was given up, so calls that it served are drawn anew, and
-- none is put back. draw.lua leaves `lapsed:<share>` in the place of the share, "<total served> <ms at which it lapsed>".
-- KEYS: the allotment. ARGV: the share, the total served, as told now; it never decreases, so a message may be repeated.
-- Returns how many calls this message says to be served, for the caller to add to `drawn`.
local field = 'lapsed:' .. ARGV[1]
local served, lapsedAt = string.match(redis.call('hget', KEYS[1], field) or '', '^(%d+) (%d+)$')
if not served or tonumber(ARGV[2]) <= tonumber(served) then return 0 end
redis.call('hset', KEYS[1], field, ARGV[2] .. ' ' .. lapsedAt)
return ARGV[2] - served
