-- Does once what the scripts of the work do, each kind of command on a key of its own.
-- KEYS: begin of the names. ARGV: milliseconds until they expire, an element that no other check has.
-- Returns 1.
local ttl = ARGV[1]
redis.call("SET", KEYS[1], "1", "PX", ttl)
redis.call("HSET", KEYS[2], "field", "1")
redis.call("PEXPIRE", KEYS[2], ttl)
redis.call("LPUSH", KEYS[3], "1")
redis.call("LTRIM", KEYS[3], 0, 0)
redis.call("PEXPIRE", KEYS[3], ttl)
redis.call("XADD", KEYS[4], "MAXLEN", "1", "*", "event", "check")
redis.call("PEXPIRE", KEYS[4], ttl)
redis.call("ZADD", KEYS[5], 0, ARGV[2])
-- They stay if the user may not take them.
redis.call("ZREMRANGEBYRANK", KEYS[5], 0, -1001)
redis.call("PEXPIRE", KEYS[5], ttl)
return 1
