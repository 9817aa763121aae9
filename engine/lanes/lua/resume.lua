#!lua flags=allow-oom
-- Ends a pause, however often it was asked for.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- Returns {1}
local base = KEYS[1]
local group = ARGV[1]
-- @include keys
-- @include now
-- @include wake
-- @include ring
if redis.call('SREM', paused_key, group) == 1 then wake(reopen(group)) end
return { 1 }
