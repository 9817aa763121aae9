#!lua flags=allow-oom
-- Keeps a group off the ring for a time, whatever hold it had.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- ARGV[2] hold_ms integer: ms, 0 = end the hold
-- Returns {1}
local base = KEYS[1]
local group, hold_ms = ARGV[1], tonumber(ARGV[2])
-- @include keys
-- @include now
-- @include names
-- @include ring
-- @include hold
local servable = 0
if hold_ms > 0 then
  servable = hold(group, now_ms + hold_ms)
elseif redis.call('ZREM', held_key, group) == 1 then
  servable = reopen(group)
end
-- @include wake
return { 1 }
