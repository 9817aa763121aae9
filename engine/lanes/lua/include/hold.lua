-- Keeps a group off the ring until `until_ms`; with `GT` an earlier end is ignored. A parked worker learns of a nearer end.
local function hold(group, until_ms, only)
  if only then
    redis.call('ZADD', held_key, only, until_ms, group)
  else
    redis.call('ZADD', held_key, until_ms, group)
  end
  refresh(group)
  if redis.call('ZRANGE', held_key, 0, 0)[1] == group then wake(1) end
end
