-- Applies to a gateway's share of an allotment what the gateway tells about the ends of its calls.
-- KEYS: the share, "<calls under way> <total served> <total put back> <ms at which it was last seen>". ARGV: the totals served and put
-- back, as told now; they never decrease, so a message may be repeated.
-- Returns the calls under way, the totals served and put back, and how many calls are put back by this message.
local underWay, served, back = string.match(KEYS[1], '^(%d+) (%d+) (%d+) ')
local newlyServed, newlyBack = math.max(0, ARGV[1] - served), math.max(0, ARGV[2] - back)
return { math.max(0, underWay - newlyServed - newlyBack), served + newlyServed, back + newlyBack, newlyBack }
