-- Undoes one token of each bucket. KEYS the buckets.
for _, key in ipairs(KEYS) do
  local kept = redis.call('GET', key)
  if kept then
    local whole, part, at = string.match(kept, '^(%S+) (%S+) (%S+)$')
    local left = tonumber(whole) - 1
    local life = redis.call('PTTL', key)
    if left + tonumber(part) <= 0 or life <= 0 then
      redis.call('DEL', key)
    else
      redis.call('SET', key, string.format('%.17g %s %s', left, part, at), 'PX', life)
    end
  end
end
return 1
