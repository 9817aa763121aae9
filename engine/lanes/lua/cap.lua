#!lua flags=allow-oom
-- Sets how many jobs of a group, and of each of its lanes, may be waiting or scheduled; what waits already stays.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- ARGV[2] depth integer: jobs of the group, 0 = no cap
-- ARGV[3] lane_depth integer: jobs of each lane, 0 = no cap
-- Returns {1}
local base = KEYS[1]
local group, depth, lane_depth = ARGV[1], ARGV[2], ARGV[3]
-- @include keys
-- @include now
-- @include look
if depth ~= '0' or lane_depth ~= '0' then
  local cap = depth
  if lane_depth ~= '0' then cap = string.gsub(depth, '^0$', '') .. '/' .. lane_depth end
  redis.call('HSET', gcap_key, group, cap)
  -- What waits already is served from here on.
  local waits = tonumber(redis.call('HGET', gdepth_key, group)) or 0
  if waits > 0 then look(gflow_key, 'p' .. group, (tonumber(redis.call('HGET', gflow_key, group)) or 0) - waits) end
else
  redis.call('HDEL', gcap_key, group)
  redis.call('HDEL', gflow_key, group, 'p' .. group)
end
return { 1 }
