-- Ends the lapsed leases in `lapsed`: back to the lane with the attempt burnt, to the dead set after `max_attempts`.
-- Wants `max_attempts` (0: never bury). Touches each group with the number of jobs it got back, and counts the lapses.
local function lapse(lease)
  local record = record_of(lease)
  local group, attempts = group_of(lease), tonumber(sub(lease, 75))
  if not record then
    end_lease(lease)
    touch(group, 0)
  elseif max_attempts > 0 and attempts >= max_attempts then
    bury(record, lease, 'the lease of attempt ' .. attempts .. ' lapsed')
    touch(group, 0)
  else
    put_back(lease)
    burn(record, lease)
    touch(group, 1)
  end
end

local reaped = 0
for _, lease in ipairs(lapsed) do
  if pcall(lapse, lease) then
    reaped = reaped + 1
  else
    -- One of the group's keys has a foreign type: look again later rather than spin. `audit` mends it.
    redis.call('ZADD', active_key, 'XX', now_ms + 1000, lease)
  end
end
if reaped > 0 then redis.call('HINCRBY', state_key, 'lapsed', reaped) end
