-- Visits `group`: each step of its inner ring picks a lane, and the lane gives its oldest job. Ends when `credit` or
-- `want` is used up, or with `full` (the ceiling is reached) or not `more` (nothing waits). What is drawn is looked at
-- by `drawn`, for all visits together. Wants what `heads` reads, and `slot`. Nothing here can fail half way.
local inner_ring = of_group .. group .. inner
local active = active_now[slot] or tonumber(actives[slot]) or 0
local depth, limit = depth_now[slot] or tonumber(depths[slot]) or 0, tonumber(limits[slot]) or math.huge
local more, full = true, active >= limit
while more and not full and credit > 0 and want > 0 do
  local last_one = depth == 1
  local lane
  if last_one then
    lane = pcall_('LPOP', inner_ring)
  else
    lane = pcall_('LMOVE', inner_ring, inner_ring, 'LEFT', 'RIGHT')
  end
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
    if last_one then
      last_keys[#last_keys + 1], last_keys[#last_keys + 2], spent[slot] = key, inner_ring, lane
    else
      turned_keys[#turned_keys + 1] = key
    end
    if depth <= 0 then break end
  else
    dry[key] = true
    if not last_one then call('RPOP', inner_ring) end
    more = call('EXISTS', inner_ring) == 1
  end
end
active_now[slot], depth_now[slot] = active, depth
