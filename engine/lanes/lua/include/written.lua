-- Writes down what the visits did to the groups that `heads` read: leases first, then what counts them.
if leases[1] then redis.call('ZADD', active_key, unpack(leases)) end
do
  local counts, depth, emptied, paces = {}, {}, {}, {}
  for group, before in pairs(depths_before) do
    if actives[group] ~= actives_before[group] then
      counts[#counts + 1] = group
      counts[#counts + 1] = actives[group]
    end
    if depths[group] <= 0 then
      emptied[#emptied + 1] = group
      paces[#paces + 1] = group
      paces[#paces + 1] = 'p' .. group
    elseif depths[group] ~= before then
      depth[#depth + 1] = group
      depth[#depth + 1] = depths[group]
    end
  end
  if counts[1] then redis.call('HSET', gactive_key, unpack(counts)) end
  if depth[1] then redis.call('HSET', gdepth_key, unpack(depth)) end
  if emptied[1] then
    redis.call('HDEL', gdepth_key, unpack(emptied))
    redis.call('HDEL', gstamp_key, unpack(emptied))
    redis.call('HDEL', gflow_key, unpack(paces))
  end
end
