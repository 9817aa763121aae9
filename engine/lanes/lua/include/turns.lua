-- Claims: bounded housekeeping, then up to `count` jobs in rota order; gives `reply`. Wants `lease_ms`, `max_attempts`, and
-- in `freed` how many jobs the call has made servable before.
-- @include housekeeping
-- @include grants

while open and granted < count and ghosts_left > 0 do
  local want = math.min(count - granted, 500)
  local ring = call('LRANGE', ring_key, 0, want - 1)
  if not ring[1] then break end
  -- @include heads
  -- The ring turns in this table and is written back once. A group that stays goes to the end of the table if the
  -- whole ring is in it (`slots` says where it came from), else to `turned`, behind the groups that were not read.
  local whole, head, last, slots = #ring < want, 1, #ring, {}
  local turned, left, left_at, served, unsure, unsure_at = {}, {}, {}, {}, {}, {}
  while want > 0 and head <= last do
    local group, slot = ring[head], slots[head] or head
    if visit ~= group then visit, credit = group, tonumber(weights[slot]) end
    if not credit then
      stamps = stamps or call('HMGET', gstamp_key, unpack(ring, 1, #limits))
      credit = tonumber(stamps[slot]) or 1
    end
    -- @include visit
    if full or not more then
      left[#left + 1], left_at[#left + 1] = group, slot
      head, visit = head + 1, false
    elseif depth <= 0 then
      unsure[#unsure + 1], unsure_at[#unsure + 1] = group, slot
      head, visit = head + 1, false
    elseif credit == 0 then
      served[#served + 1] = group
      served[#served + 1] = now_text
      head, visit = head + 1, false
      if whole then
        last = last + 1
        ring[last], slots[last] = group, slot
      else
        turned[#turned + 1] = group
      end
    end
  end
  -- @include drawn
  -- @include written
  if empty then
    -- @include leaving
  end
  for i = 1, #unsure do
    local group = unsure[i]
    if spent[unsure_at[i]] or empty and empty[group] then
      left[#left + 1] = group
    else
      served[#served + 1] = group
      served[#served + 1] = now_text
      last = last + 1
      ring[last] = group
      turned[#turned + 1] = group
    end
  end
  if head > 1 then
    if whole then
      call('DEL', ring_key)
      if head <= last then call('RPUSH', ring_key, unpack(ring, head, last)) end
    else
      call('LPOP', ring_key, head - 1)
      if turned[1] then call('RPUSH', ring_key, unpack(turned)) end
    end
    -- In this order: a group may have turned, and left later.
    if served[1] then call('HSET', served_key, unpack(served)) end
    if left[1] then call('HDEL', served_key, unpack(left)) end
  end
end
-- @include claimed
