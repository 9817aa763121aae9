-- Takes the next job of a group: one step of its inner ring picks the lane, the lane gives its oldest job.
-- Wants `depths`. Every step makes progress: ghosts and empty lanes are gone once met.
local sub, byte = string.sub, string.byte
local ghosts_left = 1000

-- Answers id, record (nil if the group has none) and whether the group has more.
local function pick(group)
  local inner = inner_key(group)
  while true do
    local lane = redis.pcall('LMOVE', inner, inner, 'LEFT', 'RIGHT')
    if type(lane) ~= 'string' then return nil, nil, false end
    local key, place, id, record = lane_key(group, lane), group .. lane, nil, nil
    repeat
      local head = redis.pcall('ZPOPMIN', key)
      id = head[1]
      if id then
        depths[group] = depths[group] - 1
        record = redis.pcall('GET', job_key(id))
        if type(record) ~= 'string' or sub(record, 1, 28) ~= place or tonumber(sub(record, 29, 44)) ~= tonumber(head[2]) then
          record = nil
        end
      end
      if not record then ghosts_left = ghosts_left - 1 end
    until record or not id or ghosts_left <= 0
    local more = id and redis.call('EXISTS', key) == 1
    if not more then
      redis.call('RPOP', inner)
      more = redis.call('EXISTS', inner) == 1
    end
    if record or ghosts_left <= 0 then return id, record, more end
  end
end

-- What the record says of attempts, and one more.
local function attempt_of(record)
  local high, low = byte(record, 51, 52)
  return math.min(high * 256 + low + 1, 65535)
end
