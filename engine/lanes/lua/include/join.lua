-- Puts on the ring, in one go, those groups of `joining` that nothing bars; each has a lane on its inner ring, and none
-- of them is on the ring. Says in `joined` which those were.
local joined = {}
do
  local paused = redis.call('SMISMEMBER', paused_key, unpack(joining))
  local held, taken = redis.call('ZMSCORE', held_key, unpack(joining)), redis.call('SMISMEMBER', taken_key, unpack(joining))
  local limits, actives = redis.call('HMGET', glimit_key, unpack(joining)), redis.call('HMGET', gactive_key, unpack(joining))
  local since = {}
  for i = 1, #joining do
    local limit = tonumber(limits[i])
    if paused[i] == 0 and not held[i] and taken[i] == 0 and not (limit and (tonumber(actives[i]) or 0) >= limit) then
      joined[#joined + 1] = joining[i]
      since[#since + 1] = joining[i]
      since[#since + 1] = now_ms
    end
  end
  if joined[1] then
    redis.call('RPUSH', ring_key, unpack(joined))
    redis.call('HSET', served_key, unpack(since))
  end
end
