#!lua flags=no-writes
-- Finds the smallest seq of a group that is waiting, scheduled or leased; costs a look at each of its lanes.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- Returns {1, seq}, or {-1} for none
local base = KEYS[1]
local group = ARGV[1]
-- Every name that a queue's data has in Redis; `keys.py` spells the same ones for single commands and for tests.
-- Wants `base`, the prefix of the queue. The hot scripts put names together from the parts at the end, because a
-- function costs them more than the name; the others include `names`.
local ring_key, served_key, state_key, wake_key = base .. 'ring', base .. 'served', base .. 'state', base .. 'wake'
local active_key, schedule_key, dead_key = base .. 'active', base .. 'schedule', base .. 'dead'
local glimit_key, gactive_key, gdepth_key = base .. 'glimit', base .. 'gactive', base .. 'gdepth'
local gweight_key, gstamp_key, gcap_key = base .. 'gweight', base .. 'gstamp', base .. 'gcap'
local gflow_key, ldelayed_key = base .. 'gflow', base .. 'ldelayed'
local paused_key, held_key, taken_key = base .. 'paused', base .. 'held', base .. 'taken'
local of_group, of_job, of_dedup = base .. 'g:', base .. 'j:', base .. 'd:'
local inner, out, pending = ':ring', ':out', ':pending'
local all = base .. '*'
-- The names of what belongs to one group, lane or job.
local function inner_key(group) return of_group .. group .. inner end

local function out_key(group) return of_group .. group .. out end

local function lane_key(group, lane)
  if lane == group then return of_group .. group .. pending end
  return of_group .. group .. ':' .. lane .. pending
end

local function job_key(id) return of_job .. id end
-- How entries and records are laid out; `job.py` reads and writes the same bytes.
-- entry:  job id 14, group 14, lane 14, seq 16 digits, then token 16 digits and attempts (a lease), or `s` (scheduled),
--         or `d` (dead)
-- record: group 14, lane 14, seq 16 digits, enqueued_ms 6 bytes, attempts 2 bytes, payload; after a failure the highest
--         bit of attempts is set, and the error and its length (2 bytes) follow the payload
local sub = string.sub

local function id_of(entry) return sub(entry, 1, 14) end

local function group_of(entry) return sub(entry, 15, 28) end

local function lane_of(entry) return sub(entry, 29, 42) end

local function seq_of(entry) return sub(entry, 43, 58) end

-- The entry without what only its kind has: what survives a change of kind.
local function core_of(entry) return sub(entry, 1, 58) end

-- The job's record, or nil if it is missing or belongs to another admission of the same id.
-- MGET, because it answers nil for a key of a foreign type where GET would end the script half way.
local function record_of(entry)
  local record = redis.call('MGET', job_key(id_of(entry)))[1]
  if record and sub(record, 1, 44) == sub(entry, 15, 58) then return record end
  return nil
end
local oldest = math.huge

-- The first entry of a lane whose job is there; ghosts in front of it are passed over.
for _, lane in ipairs(redis.call('LRANGE', inner_key(group), 0, -1)) do
  local key, rank = lane_key(group, lane), 0
  repeat
    local head = redis.call('ZRANGE', key, rank, rank, 'WITHSCORES')
    local seq = tonumber(head[2])
    local found = seq and record_of(head[1] .. group .. lane .. string.format('%016.0f', seq))
    if found then oldest = math.min(oldest, seq) end
    rank = rank + 1
  until found or not seq
end

local rank, found = 0, false
repeat
  local entries = redis.call('ZRANGE', out_key(group), rank, rank + 99)
  for _, entry in ipairs(entries) do
    if sub(entry, -1) ~= 'd' then
      oldest, found = math.min(oldest, tonumber(seq_of(entry))), true
      break
    end
  end
  rank = rank + 100
until found or #entries < 100

if oldest == math.huge then return { -1 } end
return { 1, oldest }
