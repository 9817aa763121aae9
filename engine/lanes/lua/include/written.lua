-- Writes down what the visits did to the groups that `heads` read: leases first, then what counts them.
if leases[1] then
  call('ZADD', active_key, unpack(leases))
  pcall_('ZADD', out_key, unpack(indexed))
end
do
  local counts, depth, emptied, paces = {}, {}, {}, {}
  for slot = 1, #active_now do
    local group, active, deep = ring[slot], active_now[slot], depth_now[slot]
    if active ~= (tonumber(actives[slot]) or 0) then
      counts[#counts + 1] = group
      counts[#counts + 1] = active
    end
    if deep <= 0 then
      emptied[#emptied + 1] = group
      paces[#paces + 1] = group
      paces[#paces + 1] = 'p' .. group
    else
      depth[#depth + 1] = group
      depth[#depth + 1] = deep
    end
  end
  if counts[1] then call('HSET', gactive_key, unpack(counts)) end
  if depth[1] then call('HSET', gdepth_key, unpack(depth)) end
  if emptied[1] then
    call('HDEL', gdepth_key, unpack(emptied))
    call('HDEL', gstamp_key, unpack(emptied))
    call('HDEL', gflow_key, unpack(paces))
  end
end
