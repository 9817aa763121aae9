#!lua flags=no-writes
-- Tells of one group all that a table of groups shows; looks at the heads of its first 100 lanes.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- Returns {1, depth, in_flight, ceiling, weight, stamped, cap, lane_cap, paused, held_ms, taken, ring_ms, oldest_seq,
--   now_us}: 0 for what there is not; `held_ms` is how long yet, `ring_ms` since when the ring has it unserved, or -1 if
--   it is not on the ring
local base = KEYS[1]
local group = ARGV[1]
-- Every name that a queue's data has in Redis; `keys.py` spells the same ones for single commands and for tests.
-- Wants `base`, the prefix of the queue. The hot scripts put names together from the parts at the end, because a
-- function costs them more than the name; the others include `names`.
local ring_key, served_key, state_key, wake_key = base .. 'ring', base .. 'served', base .. 'state', base .. 'wake'
local active_key, schedule_key, dead_key, out_key = base .. 'active', base .. 'schedule', base .. 'dead', base .. 'out'
local glimit_key, gactive_key, gdepth_key = base .. 'glimit', base .. 'gactive', base .. 'gdepth'
local gweight_key, gstamp_key, gcap_key = base .. 'gweight', base .. 'gstamp', base .. 'gcap'
local gflow_key, ldelayed_key = base .. 'gflow', base .. 'ldelayed'
local paused_key, held_key, taken_key = base .. 'paused', base .. 'held', base .. 'taken'
local of_group, of_job, of_dedup = base .. 'g:', base .. 'j:', base .. 'd:'
local inner, pending = ':ring', ':pending'
local all = base .. '*'
-- The one clock: every lease, delay, age and order is counted on the server's.
local clock_reading = redis.call('TIME')
local now_us = tonumber(clock_reading[1]) * 1000000 + tonumber(clock_reading[2])
local now_ms = math.floor(now_us / 1000)
-- The names of what belongs to one group, lane or job.
local function inner_key(group) return of_group .. group .. inner end

local function lane_key(group, lane)
  if lane == group then return of_group .. group .. pending end
  return of_group .. group .. ':' .. lane .. pending
end

local function job_key(id) return of_job .. id end
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
