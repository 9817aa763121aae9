-- Counts what was admitted to groups that are at least half as deep as their smaller cap: only they may be refused soon,
-- and asked for their pace. Going over that half begins the count anew, as nothing was counted below it.
-- @include look
for group, cap in pairs(cap_of) do
  local more, lane_cap = added[group], lane_cap_of[group]
  local half = (lane_cap and lane_cap < cap and lane_cap or cap) / 2
  if more and depths[group] >= half then
    local served, look_now = 0, depths[group] - more < half
    if look_now then
      redis.call('HDEL', gflow_key, group, 'p' .. group)
      served = -depths[group]
    else
      local admitted = redis.call('HINCRBY', gflow_key, group, more)
      served, look_now = admitted - depths[group], admitted % 64 < more
    end
    if look_now then look(gflow_key, 'p' .. group, served) end
  end
end
