#!lua flags=allow-oom
-- Goes through one page of the leases, the scheduled or the dead jobs: each has its job, and its place in the index.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] repair integer: 1 = mend, 0 = only look
-- ARGV[2] kind integer: 2 scheduled, 3 leased, 4 dead
-- ARGV[3] cursor string: where the last page ended, 0 at first
-- Returns {1, cursor, {what, where, found, expected}...}: `cursor` is 0 at the end
local base = KEYS[1]
local repair, kind, cursor = ARGV[1] == '1', tonumber(ARGV[2]), ARGV[3]
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
-- What an audit finds: rows of what differs, where, what was found there, and what belongs there.
local drifts = {}

local function drift(what, where, found, expected)
  if type(found) == 'number' then found = string.format('%.0f', found) end
  if type(expected) == 'number' then expected = string.format('%.0f', expected) end
  drifts[#drifts + 1] = { what, where, found, expected }
end
local key = ({ nil, schedule_key, active_key, dead_key })[kind]
local page = redis.call('ZSCAN', key, cursor, 'COUNT', 200)
for i = 1, #page[2], 2 do
  local entry = page[2][i]
  local indexed = redis.pcall('ZSCORE', out_key, entry)
  if not record_of(entry) then
    drift('ghost', entry, 'no job', 'a job')
    if repair then
      redis.call('ZREM', key, entry)
      redis.pcall('ZREM', out_key, entry)
    end
  elseif type(indexed) == 'table' or tonumber(indexed) ~= 0 then
    drift('index', entry, type(indexed) == 'string' and indexed or 'nothing', 0)
    if repair then redis.call('ZADD', out_key, 0, entry) end
  end
end
return { 1, page[1], unpack(drifts) }
