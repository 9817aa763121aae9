#!lua flags=allow-oom
-- Sets the ceiling of a group; one below what is in flight parks the group until that drains.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- ARGV[2] n integer: jobs in flight at once, 0 = no ceiling
-- Returns {1}
local base = KEYS[1]
local group, n = ARGV[1], tonumber(ARGV[2])
-- @include keys
-- @include now
-- @include names
-- @include ring
local room_before = room_of(group)
if n > 0 then
  redis.call('HSET', glimit_key, group, n)
else
  redis.call('HDEL', glimit_key, group)
end
local servable = reopen(group)
if room_of(group) <= room_before then servable = 0 end
-- @include wake
return { 1 }
