-- A ghost's turn is taken by the next job of its lane that has a record: those drawn after it move up, and more is drawn
-- behind them. Gives `record`, `place` and `name` of the job at `i`, or no record where the lane has none any more.
local slot, key, spent = taken_at[i], lane_keys[i], false
repeat
  ghosts_left = ghosts_left - 1
  local at, more_drawn = i, false
  for later = i + 1, drawn do
    if lane_keys[later] == key then
      places[at], names[at], records[at], at = places[later], names[later], records[later], later
      more_drawn = more_drawn or records[later]
    end
  end
  local oldest = pcall_('ZPOPMIN', key)
  local id, seq = oldest[1], oldest[2]
  records[at] = false
  if id then
    depth_now[slot] = depth_now[slot] - 1
    names[at], places[at] = of_job .. id, sub(place, 1, 14) .. format('%016.0f', tonumber(seq)) .. sub(place, 31, 44)
    records[at] = call('MGET', names[at])[1]
  end
  record, place, name = records[i], places[i], names[i]
  if not record or find(record, place, 1, true) ~= 1 then record = nil end
  spent = not id and not more_drawn
until record or spent or ghosts_left <= 0
if not record then
  active_now[slot] = active_now[slot] - 1
  short = true
end
