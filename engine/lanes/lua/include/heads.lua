-- What a claim must know of the groups in `ring`: five commands, however many they are.
local limits, actives, actives_before, weights, depths, depths_before = {}, {}, {}, {}, {}, {}
do
  local glimit, gactive = redis.call('HMGET', glimit_key, unpack(ring)), redis.call('HMGET', gactive_key, unpack(ring))
  local gweight, gstamp = redis.call('HMGET', gweight_key, unpack(ring)), redis.call('HMGET', gstamp_key, unpack(ring))
  local gdepth = redis.call('HMGET', gdepth_key, unpack(ring))
  for i = 1, #ring do
    local group, active, depth = ring[i], tonumber(gactive[i]) or 0, tonumber(gdepth[i]) or 0
    limits[group] = tonumber(glimit[i]) or math.huge
    actives[group], actives_before[group] = active, active
    weights[group] = tonumber(gweight[i]) or tonumber(gstamp[i]) or 1
    depths[group], depths_before[group] = depth, depth
  end
end
