#!lua flags=allow-oom
-- Ends the pause of the whole queue, however often it was asked for.
-- KEYS[1] base string: prefix of the queue's keys
-- Returns {1}
local base = KEYS[1]
-- @include keys
-- @include now
-- @include names
-- @include ring
local servable = 0
if redis.call('HDEL', state_key, 'paused') == 1 then
  -- More than 64 would wake nobody.
  for _, group in ipairs(redis.call('LRANGE', ring_key, 0, 63)) do servable = servable + reopen(group) end
end
-- @include wake
return { 1 }
