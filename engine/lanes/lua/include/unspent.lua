-- The count of a group was wrong: it has more than the job that seemed to be its last one. Such a group stays.
for i = 1, #last_keys, 2 do
  local key, inner_ring = last_keys[i], last_keys[i + 1]
  for slot, lane in pairs(spent) do
    if inner_ring == of_group .. ring[slot] .. inner then
      if call('EXISTS', key) == 1 then call('RPUSH', inner_ring, lane) end
      if call('EXISTS', inner_ring) == 1 then spent[slot] = nil end
    end
  end
end
