-- Admits a call in one request. Needs read.lua as `cached`, count.lua as `count` and draw.lua as `draw`. The keys are in several
-- slots, so a cluster cannot run it.
-- KEYS: the entry of the credential. ARGV: the expected entry, the counter of the rate limit, calls to count, their limit, the
-- allotment, then as for draw.lua.
-- Returns the entry; if it is the expected one, an empty text and the result of count.lua; if all calls are within the limit, also
-- that of draw.lua.
local found = cached({ KEYS[1] }, {})
if found ~= ARGV[1] then return { found or false } end
local counted = count({ ARGV[2] }, { ARGV[3], 1 })
if counted[1] > tonumber(ARGV[4]) then return { '', counted } end
local words = {}
for i = 6, #ARGV do words[i - 5] = ARGV[i] end
return { '', counted, draw({ ARGV[5] }, words) }
