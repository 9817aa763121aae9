#!lua flags=allow-oom
-- Sets how many jobs a visit of the rota is worth to a group, from its next visit on.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- ARGV[2] w integer: jobs, 0 = no weight of its own
-- Returns {1}
local base = KEYS[1]
local group, w = ARGV[1], tonumber(ARGV[2])
-- @include keys
if w > 0 then
  redis.call('HSET', gweight_key, group, w)
else
  redis.call('HDEL', gweight_key, group)
end
return { 1 }
