-- Gives leases their full time again, also those that are no longer there: their requests run.
-- KEYS[1] the count; ARGV: lease in milliseconds, members. Answers how many were not there.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = tonumber(ARGV[1])
-- What ran out is gone, whether or not somebody has cleared it away.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local added = 0
for i = 2, #ARGV do
  added = added + redis.call('ZADD', KEYS[1], now + lease, ARGV[i])
end
if redis.call('PTTL', KEYS[1]) < lease then
  redis.call('PEXPIRE', KEYS[1], lease)
end
return added
