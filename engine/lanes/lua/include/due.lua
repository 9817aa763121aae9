-- Moves the due entries in `due` to their lanes, whatever bars their groups from the ring.
-- Touches each group with the number of jobs it got.
local function come_due(entry)
  local group, lane = group_of(entry), lane_of(entry)
  if record_of(entry) then
    to_lane(group, lane, id_of(entry), seq_of(entry), true)
    touch(group, 1)
  else
    shrink(group, 1)
  end
  redis.call('ZREM', schedule_key, entry)
  redis.pcall('ZREM', out_key, entry)
  delay(group, lane, -1)
end

local promoted = 0
for _, entry in ipairs(due) do
  if pcall(come_due, entry) then
    promoted = promoted + 1
  else
    -- As for a lapsed lease: a key of a foreign type must not stop those behind it.
    redis.call('ZADD', schedule_key, 'XX', now_ms + 1000, entry)
  end
end
