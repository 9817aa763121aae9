-- Puts a job into its lane at the place its seq gives it, and the lane on its group's inner ring.
-- `counted` says that the group's depth has the job already (it was scheduled). Everything that a key of a
-- foreign type could refuse comes before the first lasting change, so an error leaves the job where it was.
local function to_lane(group, lane, id, seq, counted)
  local key = lane_key(group, lane)
  if redis.call('ZCARD', key) == 0 then redis.call('RPUSH', inner_key(group), lane) end
  if not counted then redis.call('HINCRBY', gdepth_key, group, 1) end
  -- Where a ghost of the same id stands in the lane, the job takes over its place in the count.
  if redis.call('ZADD', key, seq, id) == 0 then redis.call('HINCRBY', gdepth_key, group, -1) end
end

-- Takes jobs out of a lane, and the lane off the inner ring with its last one. `LREM` is no claim's and no
-- settlement's: only levers come here.
local function from_lane(group, lane, ids)
  local key = lane_key(group, lane)
  redis.call('ZREM', key, unpack(ids))
  if redis.call('EXISTS', key) == 0 then redis.call('LREM', inner_key(group), 1, lane) end
end
