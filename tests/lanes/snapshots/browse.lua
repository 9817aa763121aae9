#!lua flags=no-writes
-- Shows some of the jobs of one group, or of the whole queue, that are in one state. Looks at some 500 places a call.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id, or empty for all (not for what waits)
-- ARGV[2] state integer: 1 waiting, in the order of the group's lanes; 2 scheduled, 3 leased, 4 dead: of a group by seq,
--   of the queue by time
-- ARGV[3] n integer: jobs
-- ARGV[4] after integer: how many places of the group's entries were looked at before
-- Returns {1, after, id, at_ms, attempts, record, id, ...}: `after` is -1 at the end
local base = KEYS[1]
local group, state, n, after = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
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
local reply, found = { 1, -1 }, 0

-- A ghost is not shown.
local function show(entry, at_ms, attempts)
  local record = record_of(entry)
  if not record then return end
  local high, low = string.byte(record, 51, 52)
  found = found + 1
  for _, word in ipairs({ id_of(entry), at_ms, attempts or high % 128 * 256 + low, record }) do reply[#reply + 1] = word end
end

if state == 1 then
  -- As the inner ring turns: the first of each lane, then the second of each.
  local lanes, looks, rank = redis.call('LRANGE', inner_key(group), 0, n - 1), 0, 0
  while lanes[1] and found < n and looks < n + 500 do
    local left = {}
    for _, lane in ipairs(lanes) do
      local job = redis.call('ZRANGE', lane_key(group, lane), rank, rank, 'WITHSCORES')
      looks = looks + 1
      if job[1] then
        left[#left + 1] = lane
        if found < n then show(core_at(group, lane, job[2], job[1]), 0) end
      end
    end
    lanes, rank = left, rank + 1
  end
  return reply
end

local key, mark = ({ nil, schedule_key, active_key, dead_key })[state], ({ nil, 's', nil, 'd' })[state]
local entries = group == '' and redis.call('ZRANGE', key, after, after + 499)
  or redis.call('ZRANGEBYLEX', out_key, '[' .. group, '(' .. group .. '~', 'LIMIT', after, 500)
for at, entry in ipairs(entries) do
  local kind = sub(entry, 59)
  if mark and kind == mark or not mark and #kind > 1 then
    local at_ms = redis.call('ZSCORE', key, entry)
    if at_ms then show(entry, tonumber(at_ms), not mark and tonumber(sub(entry, 75)) or nil) end
  end
  if found == n then break end
  if at == 500 then reply[2] = after + 500 end
end
return reply
