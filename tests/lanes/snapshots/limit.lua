#!lua flags=allow-oom
-- Sets the ceiling of a group; one below what is in flight parks the group until that drains.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- ARGV[2] n integer: jobs in flight at once, 0 = no ceiling
-- Returns {1}
local base = KEYS[1]
local group, n = ARGV[1], tonumber(ARGV[2])
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
-- I1: the one place that decides whether a group belongs on the ring, outside of a claim's own visit.

-- How many more leases `group` may have, given that its ceiling is all that binds it.
local function room_of(group)
  local limit = tonumber(redis.call('HGET', glimit_key, group))
  if not limit then return math.huge end
  return limit - (tonumber(redis.call('HGET', gactive_key, group)) or 0)
end

-- Puts the group on the ring (at its tail) or takes it off, and answers whether it is on.
-- LREM is reached only where a lever or a cool-down takes a group off that nobody is visiting.
local function refresh(group)
  local fit = redis.call('EXISTS', inner_key(group)) == 1
    and redis.call('SISMEMBER', paused_key, group) == 0
    and not redis.call('ZSCORE', held_key, group)
    and redis.call('SISMEMBER', taken_key, group) == 0
    and room_of(group) > 0
  local on = redis.call('HEXISTS', served_key, group) == 1
  if fit and not on then
    redis.call('RPUSH', ring_key, group)
    redis.call('HSET', served_key, group, now_ms)
  elseif on and not fit then
    redis.call('LREM', ring_key, 1, group)
    redis.call('HDEL', served_key, group)
    if redis.call('HGET', state_key, 'visit') == group then redis.call('HDEL', state_key, 'visit', 'credit') end
  end
  return fit
end

-- Like `refresh`, and answers how many jobs of the group can be claimed at once now.
local function reopen(group)
  if not refresh(group) then return 0 end
  return math.min(room_of(group), tonumber(redis.call('HGET', gdepth_key, group)) or 0)
end
local room_before = room_of(group)
if n > 0 then
  redis.call('HSET', glimit_key, group, n)
else
  redis.call('HDEL', glimit_key, group)
end
local servable = reopen(group)
if room_of(group) <= room_before then servable = 0 end
-- Wakes as many parked workers as there are `servable` jobs. The list never holds more than 64 tokens, and a token
-- never carries a job.
if servable > 0 then
  local room = 64 - redis.call('LLEN', wake_key)
  if room > 0 then
    local tokens = {}
    for i = 1, math.min(servable, room) do tokens[i] = '1' end
    redis.call('RPUSH', wake_key, unpack(tokens))
  end
end
return { 1 }
