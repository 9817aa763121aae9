#!lua flags=allow-oom
-- Ends up to `limit` lapsed leases: their jobs go back to their lanes, or to the dead set after `max_attempts`.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] limit integer: leases
-- ARGV[2] max_attempts integer: 0 = never bury
-- Returns {1, reaped}
local base = KEYS[1]
local limit, max_attempts = tonumber(ARGV[1]), tonumber(ARGV[2])
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
-- The groups a call has changed, each once and in order, with the number of jobs they got back into their lanes.
local touched, jobs_of = {}, {}

local function touch(group, jobs)
  if not jobs_of[group] then
    jobs_of[group] = 0
    touched[#touched + 1] = group
  end
  jobs_of[group] = jobs_of[group] + jobs
end

-- Brings every touched group on or off the ring, and answers how many jobs that made servable.
local function settle_touched()
  local servable = 0
  for _, group in ipairs(touched) do
    local was_on = redis.call('HEXISTS', served_key, group) == 1
    if was_on then
      if refresh(group) then servable = servable + jobs_of[group] end
    else
      servable = servable + reopen(group)
    end
  end
  return servable
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
-- Ends single leases; `complete.lua` ends many at once.

-- Takes the lease away and frees its slot. Called after the job has its new place, so that an error never loses it.
local function end_lease(lease)
  local group = group_of(lease)
  redis.call('ZREM', active_key, lease)
  redis.pcall('ZREM', out_key, lease)
  if redis.call('HINCRBY', gactive_key, group, -1) <= 0 then
    redis.call('HDEL', gactive_key, group)
    redis.call('SREM', taken_key, group)
  end
end

-- Writes attempts (counted at the claim, carried by the lease until now) into the record.
local function burn(record, lease)
  local scarred = string.byte(record, 51) >= 128 and 32768 or 0
  redis.call('SETRANGE', job_key(id_of(lease)), 50, struct.pack('>I2', tonumber(sub(lease, 75)) + scarred))
end

-- Writes attempts and the last error into the record.
local function scar(record, lease, text)
  local last = #record
  if string.byte(record, 51) >= 128 then last = last - 2 - struct.unpack('>I2', record, last - 1) end
  local attempts = struct.pack('>I2', tonumber(sub(lease, 75)) + 32768)
  redis.call('SET', job_key(id_of(lease)),
    sub(record, 1, 50) .. attempts .. sub(record, 53, last) .. text .. struct.pack('>I2', #text))
end

-- Gives the leased job up: it waits in the dead set for a redrive.
local function bury(record, lease, text)
  local entry = core_of(lease) .. 'd'
  redis.call('ZADD', dead_key, now_ms, entry)
  redis.pcall('ZADD', out_key, 0, entry)
  scar(record, lease, text)
  end_lease(lease)
end

-- Lets the leased job wait until `due_ms`.
-- Answers 1 if nothing is due before it: a parked worker must learn of that.
local function postpone(record, lease, text, due_ms)
  local group, entry = group_of(lease), core_of(lease) .. 's'
  redis.call('HINCRBY', gdepth_key, group, 1)
  delay(group, lane_of(lease), 1)
  redis.call('ZADD', schedule_key, due_ms, entry)
  redis.pcall('ZADD', out_key, 0, entry)
  scar(record, lease, text)
  end_lease(lease)
  return redis.call('ZRANGE', schedule_key, 0, 0)[1] == entry and 1 or 0
end

-- Gives the leased job back to its lane, at its old place.
local function put_back(lease)
  to_lane(group_of(lease), lane_of(lease), id_of(lease), seq_of(lease), false)
  end_lease(lease)
end
local lapsed = redis.call('ZRANGEBYSCORE', active_key, '-inf', now_ms, 'LIMIT', 0, limit)
-- Ends the lapsed leases in `lapsed`: back to the lane with the attempt burnt, to the dead set after `max_attempts`.
-- Wants `max_attempts` (0: never bury). Touches each group with the number of jobs it got back, and counts the lapses.
local function lapse(lease)
  local record = record_of(lease)
  local group, attempts = group_of(lease), tonumber(sub(lease, 75))
  if not record then
    end_lease(lease)
    touch(group, 0)
  elseif max_attempts > 0 and attempts >= max_attempts then
    bury(record, lease, 'the lease of attempt ' .. attempts .. ' lapsed')
    touch(group, 0)
  else
    put_back(lease)
    burn(record, lease)
    touch(group, 1)
  end
end

local reaped = 0
for _, lease in ipairs(lapsed) do
  if pcall(lapse, lease) then
    reaped = reaped + 1
  else
    -- One of the group's keys has a foreign type: look again later rather than spin. `audit` mends it.
    redis.call('ZADD', active_key, 'XX', now_ms + 1000, lease)
  end
end
if reaped > 0 then redis.call('HINCRBY', state_key, 'lapsed', reaped) end
local servable = settle_touched()
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
return { 1, reaped }
