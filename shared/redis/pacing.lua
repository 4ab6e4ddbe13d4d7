-- Are these polls too soon? The first of a key never is. Each that is adds a step to the interval of its key, for
-- itself and all later.
--
-- KEYS[i]  hash: "at" time of the last poll; "interval" that it has to keep
-- ARGV[1]  step, milliseconds
-- ARGV[2]  how much sooner is forgiven: a part of the interval ...
-- ARGV[3]  ... and at least so many milliseconds
-- then for each key, in milliseconds:
-- ARGV[]   now
-- ARGV[]   interval at first
-- ARGV[]   how long to remember
-- Returns  for each key: 1 too soon, 0 not
local step, forgivenPart, forgivenMs = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

local function isTooSoon(key, now, firstInterval, lifetime)
  local state = redis.call('HMGET', key, 'at', 'interval')
  local at, interval = tonumber(state[1]), tonumber(state[2]) or firstInterval
  local forgiven = math.max(interval * forgivenPart, forgivenMs)

  local tooSoon = at and now - at < interval - forgiven
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
