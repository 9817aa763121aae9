-- Visits `group`: each step of its inner ring picks a lane, and the lane gives its oldest job. Ends when `credit` or
-- `want` is used up, or with `full` (the ceiling is reached) or not `more` (nothing waits). What is drawn is looked at
-- by `drawn`, for all visits together. Wants what `heads` reads, and `slot`. Nothing here can fail half way.
local inner_ring = of_group .. group .. inner
local active = active_now[slot] or tonumber(actives[slot]) or 0
local depth, limit = depth_now[slot] or tonumber(depths[slot]) or 0, tonumber(limits[slot]) or math.huge
local more, full = true, active >= limit
while more and not full and credit > 0 and want > 0 do
  local lane = pcall_('LMOVE', inner_ring, inner_ring, 'LEFT', 'RIGHT')
  if type(lane) ~= 'string' then
    more = false
    break
  end
  local key = of_group .. group .. ':' .. lane .. pending
  if lane == group then key = of_group .. group .. pending end
  local oldest = pcall_('ZPOPMIN', key)
  local id, seq = oldest[1], oldest[2]
  if id then
    drawn, depth, active, want, credit = drawn + 1, depth - 1, active + 1, want - 1, credit - 1
    -- As a score a seq has its 16 digits, but for a server whose clock is in the last century.
    if #seq ~= 16 then seq = format('%016.0f', tonumber(seq)) end
    places[drawn], names[drawn], lane_keys[drawn], taken_at[drawn] = group .. seq .. lane, of_job .. id, key, slot
    full = active >= limit
    -- By the count nothing is left: whether that is so is looked up for all visits together.
    if depth <= 0 then break end
  else
    dry[key] = true
    call('RPOP', inner_ring)
    more = call('EXISTS', inner_ring) == 1
  end
end
active_now[slot], depth_now[slot] = active, depth
