#!lua flags=allow-oom
-- Ends up to `limit` lapsed leases: their jobs go back to their lanes, or to the dead set after `max_attempts`.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] limit integer: leases
-- ARGV[2] max_attempts integer: 0 = never bury
-- Returns {1, reaped}
local base = KEYS[1]
local limit, max_attempts = tonumber(ARGV[1]), tonumber(ARGV[2])
-- @include keys
-- @include now
-- @include names
-- @include entry
-- @include ring
-- @include touched
-- @include backlog
-- @include lane
-- @include lease
local lapsed = redis.call('ZRANGEBYSCORE', active_key, '-inf', now_ms, 'LIMIT', 0, limit)
-- @include lapse
local servable = settle_touched()
-- @include wake
return { 1, reaped }
