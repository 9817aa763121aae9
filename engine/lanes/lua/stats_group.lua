#!lua flags=no-writes
-- Tells of one group all that a table of groups shows; looks at the heads of its first 100 lanes.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- Returns {1, depth, in_flight, ceiling, weight, stamped, cap, lane_cap, paused, held_ms, taken, ring_ms, oldest_seq,
--   now_us}: 0 for what there is not; `held_ms` is how long yet, `ring_ms` since when the ring has it unserved, or -1 if
--   it is not on the ring
local base = KEYS[1]
local group = ARGV[1]
-- @include keys
-- @include now
-- @include names
local function number(key) return tonumber(redis.call('HGET', key, group)) or 0 end

local cap = redis.call('HGET', gcap_key, group) or ''
local most, lane_most = string.match(cap, '^(%d*)/?(%d*)$')
local held_until, since = redis.call('ZSCORE', held_key, group), redis.call('HGET', served_key, group)
local oldest = 0
for _, lane in ipairs(redis.call('LRANGE', inner_key(group), 0, 99)) do
  local seq = tonumber(redis.call('ZRANGE', lane_key(group, lane), 0, 0, 'WITHSCORES')[2])
  if seq and (oldest == 0 or seq < oldest) then oldest = seq end
end
return {
  1, number(gdepth_key), number(gactive_key), number(glimit_key), number(gweight_key), number(gstamp_key),
  tonumber(most) or 0, tonumber(lane_most) or 0, redis.call('SISMEMBER', paused_key, group),
  held_until and math.max(0, tonumber(held_until) - now_ms) or 0, redis.call('SISMEMBER', taken_key, group),
  since and math.max(0, now_ms - tonumber(since)) or -1, oldest, now_us,
}
