-- Writes down what was admitted: the records, then what counts them, then the ring, so that an error from here on is
-- one that `audit` mends.
redis.call('MSET', unpack(records))
redis.call('HSET', state_key, 'clock', format('%.0f', seq))
local served, counts, joining, met = redis.call('HMGET', served_key, unpack(groups)), {}, {}, {}
for i = 1, #groups do
  local group = groups[i]
  local more = added[group]
  if more then
    if depths then
      counts[#counts + 1] = group
      counts[#counts + 1] = depths[group]
    else
      redis.call('HINCRBY', gdepth_key, group, more)
    end
    if ready[group] and served[i] then
      servable = servable + ready[group]
      ready[group] = nil
    end
  end
end
if counts[1] then redis.call('HSET', gdepth_key, unpack(counts)) end
if stamps[1] then redis.call('HSET', gstamp_key, unpack(stamps)) end
-- What is left of `ready` is off the ring; only a group that got a lane may join it, in the order of their first jobs.
for i = 1, #opened do
  local group = opened[i]
  if ready[group] and not met[group] then joining[#joining + 1], met[group] = group, true end
end
if joining[1] then
  -- @include join
  for i = 1, #joined do servable = servable + math.min(ready[joined[i]], room_for[joined[i]]) end
end
if nearest and tonumber(redis.call('ZRANGE', schedule_key, 0, 0, 'WITHSCORES')[2]) == now_ms + nearest then
  servable = servable + 1
end
