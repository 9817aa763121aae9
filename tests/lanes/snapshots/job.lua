#!lua flags=no-writes
-- Tells what is known of one job.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] id string: a branded id
-- Returns {code, at_ms, attempts, record}: 1 waiting (at_ms 0), 2 scheduled (due), 3 leased (deadline), 4 dead (since),
--   or {-1}: no such job
local base = KEYS[1]
local id = ARGV[1]
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
local record = redis.call('GET', job_key(id))
if not record then return { -1 } end
local core = sub(record, 1, 44) .. id
local group, seq = group_of(core), tonumber(seq_of(core))
local _, low = string.byte(record, 51, 52)
local attempts = string.byte(record, 51) % 128 * 256 + low
if tonumber(redis.call('ZSCORE', lane_key(group, lane_of(core)), id)) == seq then return { 1, 0, attempts, record } end
for _, entry in ipairs(redis.call('ZRANGEBYLEX', out_key, '[' .. core, '(' .. core .. '~')) do
  local kind = sub(entry, 59)
  if kind == 's' then return { 2, tonumber(redis.call('ZSCORE', schedule_key, entry)), attempts, record } end
  if kind == 'd' then return { 4, tonumber(redis.call('ZSCORE', dead_key, entry)), attempts, record } end
  return { 3, tonumber(redis.call('ZSCORE', active_key, entry)), tonumber(sub(entry, 75)), record }
end
return { -1 }
