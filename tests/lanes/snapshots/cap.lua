#!lua flags=allow-oom
-- Sets how many jobs of a group, and of each of its lanes, may be waiting or scheduled; what waits already stays.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- ARGV[2] depth integer: jobs of the group, 0 = no cap
-- ARGV[3] lane_depth integer: jobs of each lane, 0 = no cap
-- Returns {1}
local base = KEYS[1]
local group, depth, lane_depth = ARGV[1], ARGV[2], ARGV[3]
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
-- Remembers that by now `served` were, if that is news.
local function look(key, field, served)
  local seen = redis.call('HGET', key, field)
  local older_ms, older, newer_ms, newer = string.match(seen or '', '^(%S+) (%S+) (%S+) (%S+)$')
  if not older_ms then newer_ms, newer = now_ms, served end
  local age_ms = now_ms - newer_ms
  if not older_ms or age_ms >= 2000 and served - newer >= 32 or age_ms >= 30000 then
    redis.call('HSET', key, field, string.format('%.0f %.0f %.0f %.0f', newer_ms, newer, now_ms, served))
  end
end
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
