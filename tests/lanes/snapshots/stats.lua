#!lua flags=no-writes
-- Counts a queue at one instant, in a bounded number of commands.
-- KEYS[1] base string: prefix of the queue's keys
-- Returns {1, now_ms, scheduled, leased, dead, groups, servable, paused, held, all_paused, granted, starvation_ms,
--   lapsed}
local base = KEYS[1]
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
local head = redis.call('LRANGE', ring_key, 0, 0)[1]
local since = head and tonumber(redis.call('HGET', served_key, head)) or now_ms
return {
  1, now_ms,
  redis.call('ZCARD', schedule_key), redis.call('ZCARD', active_key), redis.call('ZCARD', dead_key),
  redis.call('HLEN', gdepth_key), redis.call('LLEN', ring_key), redis.call('SCARD', paused_key),
  redis.call('ZCOUNT', held_key, '(' .. now_ms, '+inf'), redis.call('HEXISTS', state_key, 'paused'),
  tonumber(redis.call('HGET', state_key, 'granted')) or 0, math.max(0, now_ms - since),
  tonumber(redis.call('HGET', state_key, 'lapsed')) or 0,
}
