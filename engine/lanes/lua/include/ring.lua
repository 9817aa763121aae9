-- I1: the one place that decides whether a group belongs on the ring, outside of a claim's own visit.

-- How many more leases `group` may have, given that its ceiling is all that binds it.
local function room_of(group)
  local limit = tonumber(redis.call('HGET', glimit_key, group))
  if not limit then return math.huge end
  return limit - (tonumber(redis.call('HGET', gactive_key, group)) or 0)
end

-- Puts the group on the ring (at its tail) or takes it off, and answers whether it is on.
-- LREM is reached only where a lever or a cool-down takes a group off that nobody is visiting.
local function refresh(group)
  local fit = redis.call('EXISTS', inner_key(group)) == 1
    and redis.call('SISMEMBER', paused_key, group) == 0
    and not redis.call('ZSCORE', held_key, group)
    and redis.call('SISMEMBER', taken_key, group) == 0
    and room_of(group) > 0
  local on = redis.call('HEXISTS', served_key, group) == 1
  if fit and not on then
    redis.call('RPUSH', ring_key, group)
    redis.call('HSET', served_key, group, now_ms)
  elseif on and not fit then
    redis.call('LREM', ring_key, 1, group)
    redis.call('HDEL', served_key, group)
    if redis.call('HGET', state_key, 'visit') == group then redis.call('HDEL', state_key, 'visit', 'credit') end
  end
  return fit
end

-- Like `refresh`, and answers how many jobs of the group can be claimed at once now.
local function reopen(group)
  if not refresh(group) then return 0 end
  return math.min(room_of(group), tonumber(redis.call('HGET', gdepth_key, group)) or 0)
end
