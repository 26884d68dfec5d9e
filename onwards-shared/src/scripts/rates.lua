-- What scripts that take tokens have in common: `take` takes one token from each bucket, or none from any.
--
-- A bucket is kept as the tokens missing from it, a whole number and a fraction apart so that small gains are not lost
-- beside large numbers, and the time of that state. A full bucket is not kept.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local NEAR = 1e-9 -- rounding; it is carried on and does not add up
local FAR = 9e15

local function wait(tokens, rate)
  if tokens <= NEAR then
    return 0
  end
  return math.min(math.max(math.ceil(tokens / rate * 1e6), 1), FAR)
end

local function read(key, rate)
  local bucket = { whole = 0, part = 0, charged = 0 }
  local kept = redis.call('GET', key)
  if not kept then
    return bucket
  end
  local whole, part, at = string.match(kept, '^(%S+) (%S+) (%S+)$')
  local passed = math.max(now - tonumber(at), 0)
  local gained = math.min(passed * rate / 1e6, FAR)
  local full = math.floor(gained)
  bucket.whole = tonumber(whole) - full
  bucket.part = tonumber(part) - (gained - full)
  if bucket.part < 0 then
    bucket.whole = bucket.whole - 1
    bucket.part = bucket.part + 1
  end
  if bucket.whole < 0 then
    bucket.whole, bucket.part = 0, 0
  end
  return bucket
end

-- Takes from the buckets named by the keys after the first `keys` ones; per bucket there are two arguments after the first
-- `args` ones: tokens per second, burst. Gives the position of the refusing bucket (0: none), and per bucket: tokens left,
-- microseconds to the next token, microseconds until full.
local function take(keys, args)
  local buckets = {}
  local refused, longest = 0, 0
  for i = 1, #KEYS - keys do
    local key = KEYS[keys + i]
    local rate, burst = tonumber(ARGV[args + 2 * i - 1]), tonumber(ARGV[args + 2 * i])
    local bucket = buckets[key] or read(key, rate)
    buckets[key] = bucket
    local missing = wait(bucket.whole + bucket.charged - (burst - 1) + bucket.part, rate)
    if missing == 0 then
      bucket.charged = bucket.charged + 1
    elseif missing > longest then
      refused, longest = i, missing
    end
  end

  local answer = { refused }
  for i = 1, #KEYS - keys do
    local key = KEYS[keys + i]
    local rate, burst = tonumber(ARGV[args + 2 * i - 1]), tonumber(ARGV[args + 2 * i])
    local bucket = buckets[key]
    if refused == 0 and bucket.charged > 0 then
      bucket.whole = bucket.whole + bucket.charged
      bucket.charged = 0
      local life = math.min(math.ceil((bucket.whole + bucket.part) / rate * 1e3) + 1000, 1e14)
      local state = string.format('%.17g %.17g %.17g', bucket.whole, bucket.part, now)
      redis.call('SET', key, state, 'PX', string.format('%.0f', life))
    end
    local left = math.floor(burst - bucket.whole - bucket.part + NEAR)
    answer[#answer + 1] = math.max(left, 0)
    answer[#answer + 1] = wait(bucket.whole - (burst - 1) + bucket.part, rate)
    answer[#answer + 1] = wait(bucket.whole + bucket.part, rate)
  end
  return answer
end
