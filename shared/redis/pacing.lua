-- Checks polls against their interval. Each early poll adds a step. A first poll is never early.
--
-- KEYS[i]  hash: "at" last poll; "interval" to keep
-- ARGV[1]  step, milliseconds
-- ARGV[2]  tolerance, as a part of the interval ...
-- ARGV[3]  ... and at least, milliseconds
-- then for each key, in milliseconds:
-- ARGV[]   now
-- ARGV[]   first interval
-- ARGV[]   lifetime of the key
-- Returns  for each key: 1 too soon, 0 not
local step, toleratedPart, toleratedMs = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

local function isTooSoon(key, now, firstInterval, lifetime)
  local state = redis.call('HMGET', key, 'at', 'interval')
  local at, interval = tonumber(state[1]), tonumber(state[2]) or firstInterval
  local tolerance = math.max(interval * toleratedPart, toleratedMs)

  local tooSoon = at and now - at < interval - tolerance
  if tooSoon then interval = interval + step end
  redis.call('HSET', key, 'at', now, 'interval', interval)
  if not at then redis.call('PEXPIRE', key, lifetime) end
  return tooSoon and 1 or 0
end

local answers = {}
for i, key in ipairs(KEYS) do
  local first = 3 * i + 1
  answers[i] = isTooSoon(key, tonumber(ARGV[first]), tonumber(ARGV[first + 1]), ARGV[first + 2])
end
return answers
