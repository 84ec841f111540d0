-- A script for wrk: sends sets of headers in turn, one per request. Each argument is a set: name, value, name, value, divided by tabs.
local requests = {}
local turn = 0

function init(args)
  for i, text in ipairs(args) do
    local headers = {}
    for name, value in text:gmatch('([^\t]+)\t([^\t]+)') do headers[name] = value end
    requests[i] = wrk.format('GET', nil, headers)
  end
  if #requests == 0 then requests[1] = wrk.format('GET', nil, {}) end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end
