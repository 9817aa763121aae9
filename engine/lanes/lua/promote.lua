#!lua flags=allow-oom
-- Moves up to `limit` due jobs to their own lanes, also those of a paused, held or full group.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] limit integer: jobs
-- Returns {1, promoted}
local base = KEYS[1]
local limit = tonumber(ARGV[1])
-- @include keys
-- @include now
-- @include names
-- @include entry
-- @include ring
-- @include touched
-- @include backlog
-- @include lane
local due = redis.call('ZRANGEBYSCORE', schedule_key, '-inf', now_ms, 'LIMIT', 0, limit)
-- @include due
local servable = settle_touched()
-- @include wake
return { 1, promoted }
