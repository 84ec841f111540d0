-- Admits the calls with one key. Needs read.lua as `cached`, count.lua as `count` and draw.lua as `draw`. The keys are in several
-- slots, so a cluster cannot run it.
-- KEYS: the entry of the credential. ARGV: as for draw.lua without a top-up, then '', the expected entry, the counter of the rate
-- limit, calls to count, their limit, the allotment.
-- Returns the entry; if it is the expected one, an empty text and the result of count.lua; if all calls are within the limit, also
-- that of draw.lua.
local found = cached(KEYS, {})
if found ~= ARGV[9] then return { found or false } end
local counted = count({ ARGV[10] }, { ARGV[11], 1 })
if counted[1] > tonumber(ARGV[12]) then return { '', counted } end
return { '', counted, draw({ ARGV[13] }, ARGV) }
