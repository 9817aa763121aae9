-- Keeps a group off the ring until `until_ms`; with `GT` an earlier end is ignored.
-- Answers 1 if this is now the next hold to end: a parked worker must learn of it.
local function hold(group, until_ms, only)
  if only then
    redis.call('ZADD', held_key, only, until_ms, group)
  else
    redis.call('ZADD', held_key, until_ms, group)
  end
  refresh(group)
  return redis.call('ZRANGE', held_key, 0, 0)[1] == group and 1 or 0
end
