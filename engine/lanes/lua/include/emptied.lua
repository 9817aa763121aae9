-- Takes lanes that are empty now from their inner rings, without a search: those that were visited are the last ones,
-- in the order of their last visits.
empty = {}
local met, alive, kept, gone = {}, {}, {}, {}
for i = 1, drawn do
  local key = lane_keys[i]
  if alive[key] == nil then alive[key] = call('EXISTS', key) == 1 end
  if not alive[key] or dry[key] or short then gone[taken_at[i]] = true end
end
for i = drawn, 1, -1 do
  local slot, key = taken_at[i], lane_keys[i]
  if gone[slot] and not spent[slot] and not met[key] and not dry[key] then
    local lane = call('RPOP', of_group .. ring[slot] .. inner)
    met[key], kept[slot] = true, kept[slot] or {}
    if alive[key] then table.insert(kept[slot], 1, lane) end
  end
end
for slot in pairs(gone) do
  local inner_ring, lanes = of_group .. ring[slot] .. inner, kept[slot]
  if lanes and lanes[1] then call('RPUSH', inner_ring, unpack(lanes)) end
  empty[ring[slot]] = not (lanes and lanes[1]) and call('EXISTS', inner_ring) == 0
end
