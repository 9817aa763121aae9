#!lua flags=allow-oom
-- Ends a pause, however often it was asked for.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- Returns {1}
local base = KEYS[1]
local group = ARGV[1]
-- @include keys
-- @include now
-- @include names
-- @include ring
local servable = redis.call('SREM', paused_key, group) == 1 and reopen(group) or 0
-- @include wake
return { 1 }
