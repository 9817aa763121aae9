#!lua flags=allow-oom
-- Recomputes all that is counted of one group from its lanes and its leases, and its places on the rings.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] repair integer: 1 = mend, 0 = only look
-- ARGV[2] group string: a branded id
-- ARGV[3] times integer: how often the ring seemed to have the group; looked up where that is not what it should be
-- ARGV[4..] lanes string: branded ids, lanes that the group may have besides those on its inner ring
-- Returns {1, {what, where, found, expected}...}
local base = KEYS[1]
local repair, group, times, lanes = ARGV[1] == '1', ARGV[2], tonumber(ARGV[3]), { unpack(ARGV, 4) }
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
-- How entries and records are laid out; `job.py` reads and writes the same bytes.
-- entry:  group 14, seq 16 digits, lane 14, job id 14, then token 16 digits and attempts (a lease), or `s` (scheduled),
--         or `d` (dead)
-- record: group 14, seq 16 digits, lane 14, enqueued_ms 6 bytes, attempts 2 bytes, payload; after a failure the highest
--         bit of attempts is set, and the error and its length (2 bytes) follow the payload
local sub = string.sub

local function group_of(entry) return sub(entry, 1, 14) end

local function seq_of(entry) return sub(entry, 15, 30) end

local function lane_of(entry) return sub(entry, 31, 44) end

local function id_of(entry) return sub(entry, 45, 58) end

-- The entry without what only its kind has: what survives a change of kind.
local function core_of(entry) return sub(entry, 1, 58) end

-- The core of the entry of a job that waits in a lane, where its seq is a score.
local function core_at(group, lane, seq, id) return string.format('%s%016.0f%s%s', group, tonumber(seq), lane, id) end

-- The job's record, or nil if it is missing or belongs to another admission of the same id.
-- MGET, because it answers nil for a key of a foreign type where GET would end the script half way.
local function record_of(entry)
  local record = redis.call('MGET', job_key(id_of(entry)))[1]
  if record and sub(record, 1, 44) == sub(entry, 1, 44) then return record end
  return nil
end
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
-- What an audit finds: rows of what differs, where, what was found there, and what belongs there.
local drifts = {}

local function drift(what, where, found, expected)
  if type(found) == 'number' then found = string.format('%.0f', found) end
  if type(expected) == 'number' then expected = string.format('%.0f', expected) end
  drifts[#drifts + 1] = { what, where, found, expected }
end
local function count(what, key, field, expected)
  local found = redis.call('HGET', key, field)
  if (tonumber(found) or 0) == expected and (found and expected > 0 or not found and expected == 0) then return end
  drift(what, field, found or 'nothing', expected)
  if repair and expected > 0 then redis.call('HSET', key, field, expected) end
  if repair and expected <= 0 then redis.call('HDEL', key, field) end
end

-- Lanes and the inner ring.
local waiting, known, turned, wrong = 0, {}, {}, false
for _, lane in ipairs(redis.call('LRANGE', inner_key(group), 0, -1)) do
  local size = not known[lane] and redis.call('ZCARD', lane_key(group, lane)) or 0
  wrong, waiting = wrong or size == 0, waiting + size
  if size > 0 then turned[#turned + 1], known[lane] = lane, true end
end
for _, lane in ipairs(lanes) do
  local size = not known[lane] and redis.call('ZCARD', lane_key(group, lane)) or 0
  wrong, waiting = wrong or size > 0, waiting + size
  if size > 0 then turned[#turned + 1], known[lane] = lane, true end
end
if wrong then
  drift('inner ring', group, redis.call('LLEN', inner_key(group)), #turned)
  if repair then
    redis.call('DEL', inner_key(group))
    for _, lane in ipairs(turned) do redis.call('RPUSH', inner_key(group), lane) end
  end
end

-- What is leased, scheduled and dead.
local active, scheduled, delayed = 0, 0, {}
for _, lane in ipairs(lanes) do delayed[lane] = 0 end
for lane in pairs(known) do delayed[lane] = 0 end
for _, entry in ipairs(redis.call('ZRANGEBYLEX', out_key, '[' .. group, '(' .. group .. '~')) do
  if redis.call('ZSCORE', active_key, entry) then
    active = active + 1
  elseif redis.call('ZSCORE', schedule_key, entry) then
    scheduled, delayed[lane_of(entry)] = scheduled + 1, (delayed[lane_of(entry)] or 0) + 1
  elseif not redis.call('ZSCORE', dead_key, entry) then
    drift('index', entry, seq_of(entry), 'nothing')
    if repair then redis.call('ZREM', out_key, entry) end
  end
end
local depth = waiting + scheduled
count('depth', gdepth_key, group, depth)
count('active', gactive_key, group, active)
for lane, number in pairs(delayed) do count('delayed', ldelayed_key, group .. lane, number) end
if depth == 0 then count('stamp', gstamp_key, group, 0) end
if redis.call('HEXISTS', gflow_key, group) + redis.call('HEXISTS', gflow_key, 'p' .. group) > 0
  and (depth == 0 or redis.call('HEXISTS', gcap_key, group) == 0) then
  drift('pace', group, 'kept', 'nothing')
  if repair then redis.call('HDEL', gflow_key, group, 'p' .. group) end
end
if active == 0 and redis.call('SISMEMBER', taken_key, group) == 1 then
  drift('taken', group, 'taken', 'nothing')
  if repair then redis.call('SREM', taken_key, group) end
end
-- Whether the ring has `group` as often as it should, and its flag says so. Looking it up costs as much as the ring is
-- long, so `times` tells whether that is worth it. Gives `servable`.
local servable = 0
local barred = redis.call('SISMEMBER', paused_key, group) == 1 or redis.call('ZSCORE', held_key, group)
  or redis.call('SISMEMBER', taken_key, group) == 1 and active > 0
local ceiling = tonumber(redis.call('HGET', glimit_key, group))
local wanted = waiting > 0 and not barred and not (ceiling and active >= ceiling) and 1 or 0
local flagged = redis.call('HEXISTS', served_key, group)
if times ~= wanted or flagged ~= wanted then
  local found = #redis.call('LPOS', ring_key, group, 'COUNT', 0)
  if found ~= wanted or flagged ~= wanted then
    drift('ring', group, found == wanted and 'a wrong flag' or found, wanted)
    if repair then
      redis.call('LREM', ring_key, 0, group)
      redis.call('HDEL', served_key, group)
      if redis.call('HGET', state_key, 'visit') == group then redis.call('HDEL', state_key, 'visit', 'credit') end
      if refresh(group) then servable = 1 end
    end
  end
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
return { 1, unpack(drifts) }
