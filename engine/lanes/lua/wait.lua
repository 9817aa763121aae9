#!lua flags=allow-oom
-- Says how long a worker may park: not at all if the ring has a group and the queue is not paused, else until the
-- nearest due time.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] timeout_ms integer: ms
-- Returns {1, park_ms}
local base = KEYS[1]
local timeout_ms = tonumber(ARGV[1])
-- @include keys
-- @include now
if redis.call('EXISTS', ring_key) == 1 and redis.call('HEXISTS', state_key, 'paused') == 0 then return { 1, 0 } end
-- What these tokens told has been seen: nothing can be claimed. Were they kept, nobody could park.
redis.call('DEL', wake_key)
local park_ms = timeout_ms
for _, key in ipairs({ schedule_key, held_key, active_key }) do
  local nearest = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  if nearest then park_ms = math.min(park_ms, math.max(0, tonumber(nearest) - now_ms)) end
end
return { 1, park_ms }
