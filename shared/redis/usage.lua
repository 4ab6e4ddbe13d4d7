-- KEYS[1]  hash
-- ARGV[1]  approximate number of entries to take out
-- Returns  field, value, field, value, …
local taken = redis.call('HSCAN', KEYS[1], 0, 'COUNT', ARGV[1])[2]
for i = 1, #taken, 2 do redis.call('HDEL', KEYS[1], taken[i]) end
return taken
