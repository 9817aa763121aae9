-- Lets those groups leave the ring that, as it turned out, have no lane left (`empty`); and takes back in those that left
-- for a ceiling that ghosts alone had reached.
local function staying(groups, from, to)
  local stay = from - 1
  for at = from, to do
    local group = groups[at]
    if empty[group] then
      left[#left + 1] = group
    else
      stay = stay + 1
      groups[stay] = group
    end
  end
  for at = stay + 1, to do groups[at] = nil end
  return stay
end

for at = #left, 1, -1 do
  local group, slot = left[at], left_at[at]
  if empty[group] == false and active_now[slot] < (tonumber(limits[slot]) or math.huge) then
    table.remove(left, at)
    unsure[#unsure + 1], unsure_at[#unsure + 1] = group, slot
  end
end
if visit and empty[visit] then
  left[#left + 1] = visit
  head, visit = head + 1, false
end
if whole then last = staying(ring, head, last) else staying(turned, 1, #turned) end
