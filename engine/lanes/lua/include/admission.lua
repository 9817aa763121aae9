-- What an admission must know before it looks at single jobs: a handful of commands, however many jobs there are.
local sub, format = string.sub, string.format
local known = redis.call('HMGET', state_key, 'clock', 'paused')
local seq = math.max(tonumber(known[1]) or 0, now_us - 1)
local stamp = struct.pack('>I6I2', now_ms, 0)
local names, groups, depths, capped = {}, {}, nil, false
-- By group, where it has a cap: how many jobs of it, and of each of its lanes.
local cap_of, lane_cap_of = {}, {}
do
  local met = {}
  for i = 1, #admissions, 3 do
    local ticket = admissions[i]
    local group = sub(ticket, 15, 28)
    names[#names + 1] = of_job .. sub(ticket, 1, 14)
    if not met[group] then groups[#groups + 1], met[group] = group, true end
  end
  local given, most_of, lane_most_of = redis.call('HMGET', gcap_key, unpack(groups)), {}, {}
  for i = 1, #groups do
    local caps, group = given[i], groups[i]
    if caps then
      -- Most groups have the same caps, and to read them takes longer than all else that is done for them.
      if not most_of[caps] then
        local most, lane_most = tonumber(caps), nil
        if not most then most, lane_most = string.match(caps, '^(%d*)/(%d*)$') end
        most_of[caps], lane_most_of[caps] = tonumber(most) or math.huge, tonumber(lane_most)
      end
      cap_of[group], lane_cap_of[group], capped = most_of[caps], lane_most_of[caps], true
    end
  end
  -- One group without a cap is counted by one command at the end; its depth need not be known.
  if capped or groups[2] then
    depths = {}
    local deep = redis.call('HMGET', gdepth_key, unpack(groups))
    for i = 1, #groups do depths[groups[i]] = tonumber(deep[i]) or 0 end
  end
end
local later_ones = capped and next(lane_cap_of) and redis.call('EXISTS', ldelayed_key) == 1
local living = redis.call('EXISTS', unpack(names)) > 0
