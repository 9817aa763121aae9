#!lua flags=allow-oom
-- Says how long a worker may park: not at all if the ring has a group and the queue is not paused, else until the
-- nearest due time.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] timeout_ms integer: ms
-- Returns {1, park_ms}
local base = KEYS[1]
local timeout_ms = tonumber(ARGV[1])
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
if redis.call('EXISTS', ring_key) == 1 and redis.call('HEXISTS', state_key, 'paused') == 0 then return { 1, 0 } end
-- What these tokens told has been seen: nothing can be claimed. Were they kept, nobody could park.
redis.call('DEL', wake_key)
local park_ms = timeout_ms
for _, key in ipairs({ schedule_key, held_key, active_key }) do
  local nearest = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  if nearest then park_ms = math.min(park_ms, math.max(0, tonumber(nearest) - now_ms)) end
end
return { 1, park_ms }
