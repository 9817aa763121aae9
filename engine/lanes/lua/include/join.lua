-- Puts on the ring, in one go, those groups of `joining` that nothing bars; each has a lane on its inner ring. Says in
-- `joined` which those were, and in `room_for` how many jobs of them can be claimed at once.
local joined, room_for = {}, {}
do
  local on, paused = redis.call('HMGET', served_key, unpack(joining)), redis.call('SMISMEMBER', paused_key, unpack(joining))
  local held, taken = redis.call('ZMSCORE', held_key, unpack(joining)), redis.call('SMISMEMBER', taken_key, unpack(joining))
  local limits, actives = redis.call('HMGET', glimit_key, unpack(joining)), redis.call('HMGET', gactive_key, unpack(joining))
  local depths, since, now_text = redis.call('HMGET', gdepth_key, unpack(joining)), {}, string.format('%.0f', now_ms)
  for i = 1, #joining do
    local group, limit = joining[i], tonumber(limits[i]) or math.huge
    local room = limit - (tonumber(actives[i]) or 0)
    if not on[i] and paused[i] == 0 and not held[i] and taken[i] == 0 and room > 0 then
      joined[#joined + 1], room_for[group] = group, math.min(room, tonumber(depths[i]) or 0)
      since[#since + 1] = group
      since[#since + 1] = now_text
    end
  end
  if joined[1] then
    redis.call('RPUSH', ring_key, unpack(joined))
    redis.call('HSET', served_key, unpack(since))
  end
end
