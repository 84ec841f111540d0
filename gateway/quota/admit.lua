-- Admits a call by one question. Needs read.lua as `cached`, count.lua as `count` and draw.lua as `draw`. The keys are in several slots,
-- so a cluster cannot run it.
-- KEYS: the entry of the credential. ARGV: what the entry should say, the counter of the second, calls to count, how many may be, the
-- allotment, then as draw.lua.
-- Gives what the entry says; if that is as it should be, also what count.lua gives; and if all of them fit, what draw.lua gives.
local found = cached({ KEYS[1] }, {})
if found ~= ARGV[1] then return { found or false } end
local counted = count({ ARGV[2] }, { ARGV[3], 1 })
if counted[1] > tonumber(ARGV[4]) then return { found, counted } end
local words = {}
for i = 6, #ARGV do words[i - 5] = ARGV[i] end
return { found, counted, draw({ ARGV[5] }, words) }
