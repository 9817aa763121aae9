-- Whether a cap leaves no room for one job more, new to its group or, if `inside`, to its lane alone.
local function is_full(group, lane, inside)
  local given = redis.call('HGET', gcap_key, group)
  if not given then return false end
  local most, lane_most = tonumber(given), nil
  if not most then most, lane_most = string.match(given, '^(%d*)/(%d*)$') end
  most, lane_most = tonumber(most) or math.huge, tonumber(lane_most) or math.huge
  if not inside and (tonumber(redis.call('HGET', gdepth_key, group)) or 0) >= most then return true end
  return lane_most < math.huge and redis.call('ZCARD', lane_key(group, lane))
    + (tonumber(redis.call('HGET', ldelayed_key, group .. lane)) or 0) >= lane_most
end

-- Counts a job that came in by another way than `enqueue` into what the group's pace is reckoned by.
local function let_in(group)
  if redis.call('HEXISTS', gflow_key, 'p' .. group) == 1 then redis.call('HINCRBY', gflow_key, group, 1) end
end
