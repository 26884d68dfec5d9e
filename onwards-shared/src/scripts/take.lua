-- Takes one token from each bucket, or none from any. KEYS the buckets; ARGV and answer as `take` has them.
return take(0, 0)
