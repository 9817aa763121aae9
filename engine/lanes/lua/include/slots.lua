-- Takes the leases in `ended` away, the jobs in `done`, and gives the slots of `groups` free.
local limits, actives = call('HMGET', glimit_key, unpack(groups)), call('HMGET', gactive_key, unpack(groups))
local takens = call('SMISMEMBER', taken_key, unpack(groups))
call('ZREM', active_key, unpack(ended))
if done[1] then call('DEL', unpack(done)) end
local counts, idle, free, opened = {}, {}, {}, {}
for i = 1, #groups do
  local group, before, limit = groups[i], tonumber(actives[i]) or 0, tonumber(limits[i])
  local its = ended_of[group]
  local after = before - 1
  if type(its) == 'string' then
    redis.pcall('ZREM', of_group .. group .. out, its)
  else
    after = before - #its
    redis.pcall('ZREM', of_group .. group .. out, unpack(its))
  end
  if after > 0 then
    counts[#counts + 1] = group
    counts[#counts + 1] = after
  else
    idle[#idle + 1] = group
  end
  if takens[i] == 1 then
    if after <= 0 then free[#free + 1], opened[#opened + 1] = group, group end
  elseif limit and before >= limit and after < limit then
    opened[#opened + 1] = group
  end
end
if counts[1] then call('HSET', gactive_key, unpack(counts)) end
if idle[1] then call('HDEL', gactive_key, unpack(idle)) end
if free[1] then call('SREM', taken_key, unpack(free)) end

-- Only a group that was full or taken was off the ring for it; nobody else's place changes.
if opened[1] and cooldown_ms == 0 then
  local joining = {}
  for i = 1, #opened do
    if call('EXISTS', of_group .. opened[i] .. inner) == 1 then joining[#joining + 1] = opened[i] end
  end
  if joining[1] then
    -- @include join
    for i = 1, #joined do freed = freed + room_for[joined[i]] end
  end
end
