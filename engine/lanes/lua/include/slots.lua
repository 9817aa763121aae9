-- Takes the leases in `ended` away, the jobs in `done`, and gives the slots of `groups` free.
local actives, on_ring = call('HMGET', gactive_key, unpack(groups)), call('HMGET', served_key, unpack(groups))
call('ZREM', active_key, unpack(ended))
redis.pcall('ZREM', out_key, unpack(ended))
if done[1] then call('DEL', unpack(done)) end
local counts, idle, off = {}, {}, {}
for i = 1, #groups do
  local group = groups[i]
  local after = (tonumber(actives[i]) or 0) - ended_of[group]
  if after > 0 then
    counts[#counts + 1] = group
    counts[#counts + 1] = after
  else
    idle[#idle + 1] = group
  end
  if not on_ring[i] then off[#off + 1] = group end
end
if counts[1] then call('HSET', gactive_key, unpack(counts)) end
if idle[1] then
  call('HDEL', gactive_key, unpack(idle))
  if off[1] then call('SREM', taken_key, unpack(idle)) end
end

-- A group that was full or taken was off the ring for it, and may join it; nobody else's place changes.
if off[1] and cooldown_ms == 0 then
  local joining, inner_rings = {}, {}
  for i = 1, #off do inner_rings[i] = of_group .. off[i] .. inner end
  if call('EXISTS', unpack(inner_rings)) > 0 then
    for i = 1, #off do
      if call('EXISTS', inner_rings[i]) == 1 then joining[#joining + 1] = off[i] end
    end
  end
  if joining[1] then
    -- @include join
    for i = 1, #joined do freed = freed + room_for[joined[i]] end
  end
end
