-- Is this poll too soon? The first never is. Each that is adds a step to the interval, for itself and all later.
--
-- KEYS[1]  hash: "at" time of the last poll; "interval" that it has to keep
-- ARGV[1]  now, milliseconds
-- ARGV[2]  interval at first, milliseconds
-- ARGV[3]  step, milliseconds
-- ARGV[4]  how much sooner is forgiven: a part of the interval ...
-- ARGV[5]  ... and at least so many milliseconds
-- ARGV[6]  how long to remember, milliseconds
-- Returns  1 too soon, 0 not
local key, now, step = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[3])
local state = redis.call('HMGET', key, 'at', 'interval')
local at, interval = tonumber(state[1]), tonumber(state[2]) or tonumber(ARGV[2])
local forgiven = math.max(interval * tonumber(ARGV[4]), tonumber(ARGV[5]))

local isTooSoon = at and now - at < interval - forgiven
if isTooSoon then interval = interval + step end
redis.call('HSET', key, 'at', now, 'interval', interval)
if not at then redis.call('PEXPIRE', key, ARGV[6]) end
return isTooSoon and 1 or 0
