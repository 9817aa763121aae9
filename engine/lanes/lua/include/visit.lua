-- Serves `group`: each step of its inner ring picks a lane, and the lane gives its oldest job. Ends when `credit` or
-- `want` is used up, or with `full` (the ceiling is reached) or not `more` (nothing waits).
-- Wants what `heads` and `grants` read, and `slot`; leases go to `leases`. Nothing here can fail half way.
local lanes = of_group .. group .. inner
local active = active_now[slot] or tonumber(actives[slot]) or 0
local depth, limit = depth_now[slot] or tonumber(depths[slot]) or 0, tonumber(limits[slot]) or math.huge
local more, full = true, active >= limit
while more and not full and credit > 0 and want > 0 and ghosts_left > 0 do
  local lane = pcall_('LMOVE', lanes, lanes, 'LEFT', 'RIGHT')
  if type(lane) ~= 'string' then
    more = false
    break
  end
  local key, id, seq, record, core = of_group .. group .. ':' .. lane .. pending, nil, nil, nil, nil
  if lane == group then key = of_group .. group .. pending end
  repeat
    local oldest = pcall_('ZPOPMIN', key)
    id, seq, record = oldest[1], oldest[2], nil
    if id then
      depth = depth - 1
      record = pcall_('GET', of_job .. id)
      -- A place that the record does not own is a ghost: skipped, uncounted. As a score a seq has its 16 digits, but for
      -- a server whose clock is in the last century.
      core = group .. lane .. seq
      if type(record) ~= 'string' or find(record, core, 1, true) ~= 1 then
        core = format('%s%s%016.0f', group, lane, tonumber(seq))
        if type(record) ~= 'string' or sub(record, 1, 44) ~= core then
          record, ghosts_left = nil, ghosts_left - 1
        end
      end
    end
  until record or not id or ghosts_left <= 0
  if record then
    local high, low = byte(record, 51, 52)
    -- `..` would print the token as 1.79e+15.
    local lease = id .. core .. format('%016.0f', token) .. (low + high == 0 and '1'
      or math.min(high % 128 * 256 + low + 1, 32767))
    leases[#leases + 1] = until_text
    leases[#leases + 1] = lease
    pcall_('ZADD', of_group .. group .. out, seq, lease)
    reply[2 * granted + 4], reply[2 * granted + 5] = id, record
    granted, token, active = granted + 1, token + 1, active + 1
    want, credit, full = want - 1, credit - 1, active >= limit
  end
  if not id or call('EXISTS', key) == 0 then
    call('RPOP', lanes)
    more = call('EXISTS', lanes) == 1
  end
end
active_now[slot], depth_now[slot] = active, depth
