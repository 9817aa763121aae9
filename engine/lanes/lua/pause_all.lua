#!lua flags=allow-oom
-- Lets no job of the queue be claimed until `resume_all`; its housekeeping goes on.
-- KEYS[1] base string: prefix of the queue's keys
-- Returns {1}
local base = KEYS[1]
-- @include keys
redis.call('HSET', state_key, 'paused', 1)
return { 1 }
