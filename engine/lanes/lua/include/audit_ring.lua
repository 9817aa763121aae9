-- Whether the ring has `group` as often as it should, and its flag says so. Looking it up costs as much as the ring is
-- long, so `times` tells whether that is worth it. Gives `servable`.
local servable = 0
local barred = redis.call('SISMEMBER', paused_key, group) == 1 or redis.call('ZSCORE', held_key, group)
  or redis.call('SISMEMBER', taken_key, group) == 1 and active > 0
local ceiling = tonumber(redis.call('HGET', glimit_key, group))
local wanted = waiting > 0 and not barred and not (ceiling and active >= ceiling) and 1 or 0
local flagged = redis.call('HEXISTS', served_key, group)
if times ~= wanted or flagged ~= wanted then
  local found = #redis.call('LPOS', ring_key, group, 'COUNT', 0)
  if found ~= wanted or flagged ~= wanted then
    drift('ring', group, found == wanted and 'a wrong flag' or found, wanted)
    if repair then
      redis.call('LREM', ring_key, 0, group)
      redis.call('HDEL', served_key, group)
      if redis.call('HGET', state_key, 'visit') == group then redis.call('HDEL', state_key, 'visit', 'credit') end
      if refresh(group) then servable = 1 end
    end
  end
end
