-- Counts one more request and takes one token from each bucket, or does neither.
-- KEYS[1] the count, then the buckets; ARGV: member, limit, lease in milliseconds, then as `take` has them. Answers -1 if the
-- count is full, else what `take` gives.
local millis = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', millis)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
  return { -1 }
end
local taken = take(1, 3)
if taken[1] == 0 then
  redis.call('ZADD', KEYS[1], millis + lease, ARGV[1])
  -- Another gateway may hold longer leases under the same key.
  if redis.call('PTTL', KEYS[1]) < lease then
    redis.call('PEXPIRE', KEYS[1], lease)
  end
end
return taken
