#!lua flags=allow-oom
-- Keeps a group off the ring until it is resumed; what is leased goes on.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- Returns {1}
local base = KEYS[1]
local group = ARGV[1]
-- @include keys
-- @include now
-- @include names
-- @include ring
redis.call('SADD', paused_key, group)
refresh(group)
return { 1 }
