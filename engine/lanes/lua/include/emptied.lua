-- Takes lanes that are empty now from their inner rings, without a search: those that were visited are the last ones,
-- in the order of their last visits.
empty = {}
local met, kept, gone = {}, {}, {}
for i = 1, drawn do gone[taken_at[i]] = gone[taken_at[i]] or call('EXISTS', lane_keys[i]) == 0 end
for i = drawn, 1, -1 do
  local slot, key = taken_at[i], lane_keys[i]
  if gone[slot] and not met[key] and not dry[key] then
    local lane = call('RPOP', of_group .. ring[slot] .. inner)
    met[key], kept[slot] = true, kept[slot] or {}
    if call('EXISTS', key) == 1 then table.insert(kept[slot], 1, lane) end
  end
end
for slot, lanes in pairs(kept) do
  if lanes[1] then call('RPUSH', of_group .. ring[slot] .. inner, unpack(lanes)) end
end
for i = 1, drawn do
  local slot = taken_at[i]
  local group = ring[slot]
  if empty[group] == nil then empty[group] = call('EXISTS', of_group .. group .. inner) == 0 end
end
