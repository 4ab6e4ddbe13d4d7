-- Takes slots of all windows or of none, or returns one. A window has 61 buckets, each a 60th of it, so no span of its
-- length exceeds the limit.
--
-- KEYS[i]  hash: bucket number modulo 61 → slots taken; "n" newest and "o" oldest bucket; "t" total
-- ARGV[1]  slots to take of each; 0 only reads; -1 returns one
-- then for each key:
-- ARGV[]   limit
-- ARGV[]   bucket length, milliseconds
-- Returns  { slots taken of each, and of the first window with the fewest slots left: its number, slots left,
--            milliseconds until the next slot returns }
local time = redis.call('TIME')
local ms = time[1] * 1000 + math.floor(time[2] / 1000)

local function count(window, bucket) return tonumber(redis.call('HGET', window.key, bucket % 61)) or 0 end

-- Forgets what is older than the window.
local function open(key, limit, bucketMs)
  local window = { key = key, limit = limit, bucketMs = bucketMs, now = ms, current = math.floor(ms / bucketMs) }
  local state = redis.call('HMGET', key, 'n', 'o', 't')
  window.newest = tonumber(state[1]) or window.current
  window.oldest, window.total = tonumber(state[2]) or window.current, tonumber(state[3]) or 0
  if window.newest > window.current then -- the server's clock was set back
    window.current = window.newest
    window.now = window.current * bucketMs
  end
  local current = window.current
  if current - window.newest > 60 then
    redis.call('DEL', key)
    window.total, window.oldest = 0, current
    return window
  end
  for bucket = window.oldest, current - 61 do
    window.total = window.total - count(window, bucket)
    redis.call('HDEL', key, bucket % 61)
  end
  if window.total == 0 then window.oldest = current else window.oldest = math.max(window.oldest, current - 60) end
  while window.oldest < current and count(window, window.oldest) == 0 do window.oldest = window.oldest + 1 end
  return window
end

local function giveBack(window)
  for bucket = window.current, window.oldest, -1 do
    local present = count(window, bucket)
    if present > 0 then
      redis.call('HSET', window.key, bucket % 61, present - 1)
      return -1
    end
  end
  return 0
end

local function change(window, taken)
  if taken == -1 then taken = giveBack(window)
  elseif taken > 0 then redis.call('HINCRBY', window.key, window.current % 61, taken) end
  window.total = window.total + taken
  if taken ~= 0 or window.newest ~= window.current then
    redis.call('HSET', window.key, 'n', window.current, 'o', window.oldest, 't', window.total)
    redis.call('PEXPIRE', window.key, 62 * window.bucketMs)
  end
end

local windows, taken = {}, tonumber(ARGV[1])
for i, key in ipairs(KEYS) do
  local window = open(key, tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1]))
  windows[i] = window
  if taken > 0 then taken = math.max(0, math.min(taken, window.limit - window.total)) end
end
local number, fewest
for i, window in ipairs(windows) do
  change(window, taken)
  local left = math.max(0, window.limit - window.total)
  if not fewest or left < fewest then number, fewest = i, left end
end
local least = windows[number]
return { taken, number, fewest, (least.oldest + 61) * least.bucketMs - least.now }
