-- What a claim must know of the groups at the head of the ring: five commands, however many groups they are.
local known, limits, actives, weights, depths, depths_before = {}, {}, {}, {}, {}, {}

local function load_heads(ring)
  local glimit, gactive = redis.call('HMGET', glimit_key, unpack(ring)), redis.call('HMGET', gactive_key, unpack(ring))
  local gweight, gstamp = redis.call('HMGET', gweight_key, unpack(ring)), redis.call('HMGET', gstamp_key, unpack(ring))
  local gdepth = redis.call('HMGET', gdepth_key, unpack(ring))
  for i, group in ipairs(ring) do
    if not actives[group] then
      known[#known + 1] = group
      limits[group] = tonumber(glimit[i]) or math.huge
      actives[group] = tonumber(gactive[i]) or 0
      weights[group] = tonumber(gweight[i]) or tonumber(gstamp[i]) or 1
      depths[group] = tonumber(gdepth[i]) or 0
      depths_before[group] = depths[group]
    end
  end
end
