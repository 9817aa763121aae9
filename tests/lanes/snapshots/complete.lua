#!lua flags=allow-oom
-- Ends the leases of finished jobs and forgets the jobs; a cool-down holds their groups and never shortens a hold.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] cooldown_ms integer: ms, 0 = none
-- ARGV[2..] leases string: entries of `active`
-- Returns {code, ...}, one a lease: 1 ok, -1 stale, -2 gone
local base = KEYS[1]
local cooldown_ms, leases = tonumber(ARGV[1]), { unpack(ARGV, 2) }
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
-- Ends the leases in `leases` whose jobs are done and forgets the jobs. Gives `codes`, one a lease, the `groups` they
-- were of, and in `freed` how many jobs can be claimed for it. Wants `cooldown_ms`: a group that cools down joins nothing.
local codes, groups, freed = {}, {}, 0
if leases[1] then
  local call, sub, find = redis.call, string.sub, string.find
  -- I4: ask which leases still live before anything is written; only the newest token of a job has an entry.
  local deadlines, names = call('ZMSCORE', active_key, unpack(leases)), {}
  for i = 1, #leases do names[i] = of_job .. sub(leases[i], 45, 58) end
  local records = call('MGET', unpack(names))
  local ended, done, ended_of, seen = {}, {}, {}, {}
  for i = 1, #leases do
    local lease, record = leases[i], records[i]
    if not deadlines[i] or seen[lease] then
      codes[i] = -1
    else
      seen[lease], ended[#ended + 1] = true, lease
      if record and find(record, sub(lease, 1, 44), 1, true) == 1 then
        codes[i], done[#done + 1] = 1, names[i]
      else
        codes[i] = -2
      end
      local group = sub(lease, 1, 14)
      local its = ended_of[group]
      if not its then groups[#groups + 1] = group end
      ended_of[group] = (its or 0) + 1
    end
  end
  if ended[1] then
-- Takes the leases in `ended` away, the jobs in `done`, and gives the slots of `groups` free.
local actives, on_ring = call('HMGET', gactive_key, unpack(groups)), call('HMGET', served_key, unpack(groups))
call('ZREM', active_key, unpack(ended))
redis.pcall('ZREM', out_key, unpack(ended))
if done[1] then call('DEL', unpack(done)) end
local counts, idle, off = {}, {}, {}
for i = 1, #groups do
  local group = groups[i]
  local after = (tonumber(actives[i]) or 0) - ended_of[group]
  if after > 0 then
    counts[#counts + 1] = group
    counts[#counts + 1] = after
  else
    idle[#idle + 1] = group
  end
  if not on_ring[i] then off[#off + 1] = group end
end
if counts[1] then call('HSET', gactive_key, unpack(counts)) end
if idle[1] then
  call('HDEL', gactive_key, unpack(idle))
  if off[1] then call('SREM', taken_key, unpack(idle)) end
end

-- A group that was full or taken was off the ring for it, and may join it; nobody else's place changes.
if off[1] and cooldown_ms == 0 then
  local joining, inner_rings = {}, {}
  for i = 1, #off do inner_rings[i] = of_group .. off[i] .. inner end
  if call('EXISTS', unpack(inner_rings)) > 0 then
    for i = 1, #off do
      if call('EXISTS', inner_rings[i]) == 1 then joining[#joining + 1] = off[i] end
    end
  end
  if joining[1] then
-- Puts on the ring, in one go, those groups of `joining` that nothing bars; each has a lane on its inner ring. Says in
-- `joined` which those were, and in `room_for` how many jobs of them can be claimed at once.
local joined, room_for = {}, {}
do
  local on, paused = redis.call('HMGET', served_key, unpack(joining)), redis.call('SMISMEMBER', paused_key, unpack(joining))
  local held, taken = redis.call('ZMSCORE', held_key, unpack(joining)), redis.call('SMISMEMBER', taken_key, unpack(joining))
  local limits, actives = redis.call('HMGET', glimit_key, unpack(joining)), redis.call('HMGET', gactive_key, unpack(joining))
  local depths, since, now_text = redis.call('HMGET', gdepth_key, unpack(joining)), {}, string.format('%.0f', now_ms)
  for i = 1, #joining do
    local group, limit = joining[i], tonumber(limits[i]) or math.huge
    local room = limit - (tonumber(actives[i]) or 0)
    if not on[i] and paused[i] == 0 and not held[i] and taken[i] == 0 and room > 0 then
      joined[#joined + 1], room_for[group] = group, math.min(room, tonumber(depths[i]) or 0)
      since[#since + 1] = group
      since[#since + 1] = now_text
    end
  end
  if joined[1] then
    redis.call('RPUSH', ring_key, unpack(joined))
    redis.call('HSET', served_key, unpack(since))
  end
end
    for i = 1, #joined do freed = freed + room_for[joined[i]] end
  end
end
  end
end
local servable = freed
if cooldown_ms > 0 and groups[1] then
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
-- Keeps a group off the ring until `until_ms`; with `GT` an earlier end is ignored.
-- Answers 1 if this is now the next hold to end: a parked worker must learn of it.
local function hold(group, until_ms, only)
  if only then
    redis.call('ZADD', held_key, only, until_ms, group)
  else
    redis.call('ZADD', held_key, until_ms, group)
  end
  refresh(group)
  return redis.call('ZRANGE', held_key, 0, 0)[1] == group and 1 or 0
end
  for _, group in ipairs(groups) do servable = servable + hold(group, now_ms + cooldown_ms, 'GT') end
end
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
return codes
