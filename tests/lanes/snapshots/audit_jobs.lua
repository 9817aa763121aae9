#!lua flags=allow-oom
-- Looks whether each of some jobs is in one place. One in none waits again, where its seq puts it; one in several keeps
-- the place nearest to its end: a lease before its lane, that before the schedule, and that before the dead set.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] repair integer: 1 = mend, 0 = only look
-- ARGV[2..] ids string: branded ids
-- Returns {1, {what, where, found, expected}...}
local base = KEYS[1]
local repair, ids = ARGV[1] == '1', { unpack(ARGV, 2) }
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
-- What is told of a group's backlog: how deep it is, and what goes with it when it is gone.

-- Forgets what lives as long as the backlog: the stamped weight and the pace at which it was served.
local function forget_backlog(group)
  redis.call('HDEL', gdepth_key, group)
  redis.call('HDEL', gstamp_key, group)
  redis.call('HDEL', gflow_key, group, 'p' .. group)
end

-- Takes `jobs` from the group's depth.
local function shrink(group, jobs)
  if redis.call('HINCRBY', gdepth_key, group, -jobs) <= 0 then forget_backlog(group) end
end

-- Takes jobs that nobody served from what the group's pace is reckoned by. Wants to come before `shrink`.
local function unserved(group, jobs)
  if redis.call('HEXISTS', gflow_key, 'p' .. group) == 1 then redis.call('HINCRBY', gflow_key, group, -jobs) end
end

-- Counts a job into (or, with a negative number, out of) the scheduled ones of its lane.
local function delay(group, lane, jobs)
  if redis.call('HINCRBY', ldelayed_key, group .. lane, jobs) <= 0 then
    redis.call('HDEL', ldelayed_key, group .. lane)
  end
end
-- Puts a job into its lane at the place its seq gives it, and the lane on its group's inner ring.
-- `counted` says that the group's depth has the job already (it was scheduled). Everything that a key of a
-- foreign type could refuse comes before the first lasting change, so an error leaves the job where it was.
local function to_lane(group, lane, id, seq, counted)
  local key = lane_key(group, lane)
  if redis.call('ZCARD', key) == 0 then redis.call('RPUSH', inner_key(group), lane) end
  if not counted then redis.call('HINCRBY', gdepth_key, group, 1) end
  -- Where a ghost of the same id stands in the lane, the job takes over its place in the count.
  if redis.call('ZADD', key, seq, id) == 0 then redis.call('HINCRBY', gdepth_key, group, -1) end
end

-- Takes jobs out of a lane, and the lane off the inner ring with its last one. `LREM` is no claim's and no
-- settlement's: only levers come here.
local function from_lane(group, lane, ids)
  local key = lane_key(group, lane)
  redis.call('ZREM', key, unpack(ids))
  if redis.call('EXISTS', key) == 0 then redis.call('LREM', inner_key(group), 1, lane) end
end
-- What an audit finds: rows of what differs, where, what was found there, and what belongs there.
local drifts = {}

local function drift(what, where, found, expected)
  if type(found) == 'number' then found = string.format('%.0f', found) end
  if type(expected) == 'number' then expected = string.format('%.0f', expected) end
  drifts[#drifts + 1] = { what, where, found, expected }
end
-- The places that the job of `entry` stands in, the one that it keeps first: its newest lease, else its lane, else the
-- schedule, else the dead set.
local function places_of(entry)
  local group, seq, places = group_of(entry), seq_of(entry), {}
  -- In the reverse order of their bytes: of two leases, the one with the newer token first.
  local others = redis.call('ZREVRANGEBYLEX', out_key, '(' .. entry .. '~', '[' .. entry)
  local function find(name, key)
    for _, other in ipairs(others) do
      if redis.call('ZSCORE', key, other) then places[#places + 1] = { name, key, other } end
    end
  end
  find('leased', active_key)
  local lane = lane_key(group, lane_of(entry))
  if tonumber(redis.call('ZSCORE', lane, id_of(entry))) == tonumber(seq) then places[#places + 1] = { 'waiting' } end
  find('scheduled', schedule_key)
  find('dead', dead_key)
  return places
end

-- Takes the job out of all places but the first; what is counted of its group is mended with the group.
local function keep_one(entry, places)
  for i = 2, #places do
    local name, key, member = unpack(places[i])
    if name == 'waiting' then
      from_lane(group_of(entry), lane_of(entry), { id_of(entry) })
    else
      redis.call('ZREM', key, member)
      redis.call('ZREM', out_key, member)
    end
  end
end

for _, id in ipairs(ids) do
  local record = redis.call('MGET', job_key(id))[1]
  local entry = record and sub(record, 1, 44) .. id
  if record and (#record < 52 or not string.match(entry, '^%w+$')) then
    drift('record', id, 'no record', 'a record')
    if repair then redis.call('DEL', job_key(id)) end
  elseif record then
    local fine, places = pcall(places_of, entry)
    if not fine or not places[1] then
      drift('lost', entry, 'no place', 'a place')
      if repair then to_lane(group_of(entry), lane_of(entry), id, seq_of(entry), false) end
    elseif places[2] then
      local names = {}
      for i, place in ipairs(places) do names[i] = place[1] end
      drift('places', entry, table.concat(names, ' and '), names[1])
      if repair then keep_one(entry, places) end
    end
  end
end
return { 1, unpack(drifts) }
