-- A script for wrk: sends sets of headers in turn, one per request. The first argument is a word for the query that makes each URL a new
-- one, or empty: all are the same. The second is the average pause of a connection before each request, in ms. Each other one is a
-- set of headers: name, value, name, value, divided by tabs; or, after `@`, the file that has one of these a line.
local requests = {}
local turn = 0

function init(args)
  local word, pause_ms = args[1], tonumber(args[2])
  local function add(set)
    local headers = {}
    for name, value in set:gmatch('([^\t]+)\t([^\t]+)') do headers[name] = value end
    requests[#requests + 1] = wrk.format('GET', nil, headers)
  end
  for i = 3, math.max(3, #args) do
    local file = (args[i] or ''):match('^@(.*)$')
    if file then
      for set in io.lines(file) do add(set) end
    else
      add(args[i] or '')
    end
  end
  if pause_ms > 0 then
    -- wrk asks this before each request, and takes whole ms. Even in distribution: together the connections send at random, at a
    -- steady rate.
    function delay() return math.floor(2 * pause_ms * math.random() + 0.5) end
  end
  if word ~= '' then ask_for_new_urls(word) end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function ask_for_new_urls(word)
  local first, rest, sent = {}, {}, 0
  for i, text in ipairs(requests) do first[i], rest[i] = text:match('^(GET %S+)(.*)$') end
  function request()
    turn = turn % #requests + 1
    sent = sent + 1
    return first[turn] .. '?new=' .. word .. '-' .. sent .. rest[turn]
  end
end
