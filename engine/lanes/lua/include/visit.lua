-- Serves `group`: each step of its inner ring picks a lane, and the lane gives its oldest job. Ends when `credit` or
-- `want` is used up, or with `full` (the ceiling is reached) or not `more` (nothing waits).
-- Wants what `heads` and `grants` read; leases go to `leases`. Nothing here can fail half way.
local lanes, its_out = of_group .. group .. inner, of_group .. group .. out
local limit, active, depth = limits[group], actives[group], depths[group]
local more, full = true, active >= limit
while more and not full and credit > 0 and want > 0 and ghosts_left > 0 do
  local lane = redis.pcall('LMOVE', lanes, lanes, 'LEFT', 'RIGHT')
  if type(lane) ~= 'string' then
    more = false
    break
  end
  local key, place, id, record = of_group .. group .. ':' .. lane .. pending, group .. lane, nil, nil
  if lane == group then key = of_group .. group .. pending end
  repeat
    local oldest = redis.pcall('ZPOPMIN', key)
    id, record = oldest[1], nil
    if id then
      depth = depth - 1
      record = redis.pcall('GET', of_job .. id)
      -- A place that the record does not own is a ghost: skipped, uncounted.
      if type(record) ~= 'string' or sub(record, 1, 28) ~= place
        or tonumber(sub(record, 29, 44)) ~= tonumber(oldest[2]) then
        record = nil
      end
    end
    if not record then ghosts_left = ghosts_left - 1 end
  until record or not id or ghosts_left <= 0
  if record then
    local high, low = byte(record, 51, 52)
    -- `..` would print the token as 1.79e+15.
    local lease = id .. sub(record, 1, 44) .. format('%016.0f', token) .. math.min(high % 128 * 256 + low + 1, 32767)
    leases[#leases + 1] = until_ms
    leases[#leases + 1] = lease
    redis.pcall('ZADD', its_out, sub(record, 29, 44), lease)
    reply[2 * granted + 4], reply[2 * granted + 5] = id, record
    granted, token, active = granted + 1, token + 1, active + 1
    want, credit, full = want - 1, credit - 1, active >= limit
  end
  if not id or redis.call('EXISTS', key) == 0 then
    redis.call('RPOP', lanes)
    more = redis.call('EXISTS', lanes) == 1
  end
end
actives[group], depths[group] = active, depth
