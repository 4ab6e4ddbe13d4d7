-- Takes or returns slots. 61 buckets, each a 60th of the window, so no span of its length exceeds the limit.
--
-- KEYS[1]  hash: bucket number modulo 61 → slots taken; "n" newest and "o" oldest bucket; "t" total
-- ARGV[1]  limit
-- ARGV[2]  bucket length, milliseconds
-- ARGV[3]  slots to take; 0 only reads; -1 returns one
-- Returns  { slots taken, slots left, milliseconds until the next slot returns }
local key, limit, bucketMs, change = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local current = math.floor(now / bucketMs)

local function count(bucket) return tonumber(redis.call('HGET', key, bucket % 61)) or 0 end

local state = redis.call('HMGET', key, 'n', 'o', 't')
local newest, oldest, total = tonumber(state[1]) or current, tonumber(state[2]) or current, tonumber(state[3]) or 0
if newest > current then -- the server's clock was set back
  current = newest
  now = current * bucketMs
end

if current - newest > 60 then
  redis.call('DEL', key)
  total, oldest = 0, current
else
  for bucket = oldest, current - 61 do
    total = total - count(bucket)
    redis.call('HDEL', key, bucket % 61)
  end
  if total == 0 then oldest = current else oldest = math.max(oldest, current - 60) end
  while oldest < current and count(oldest) == 0 do oldest = oldest + 1 end
end

local taken = 0
if change == -1 then
  for bucket = current, oldest, -1 do
    local present = count(bucket)
    if present > 0 then
      redis.call('HSET', key, bucket % 61, present - 1)
      taken = -1
      break
    end
  end
else
  taken = math.max(0, math.min(change, limit - total))
  if taken > 0 then redis.call('HINCRBY', key, current % 61, taken) end
end
total = total + taken
if taken ~= 0 or newest ~= current then
  redis.call('HSET', key, 'n', current, 'o', oldest, 't', total)
  redis.call('PEXPIRE', key, 62 * bucketMs)
end
return { taken, math.max(0, limit - total), (oldest + 61) * bucketMs - now }
