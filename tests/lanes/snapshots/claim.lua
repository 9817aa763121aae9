#!lua flags=allow-oom
-- Leases up to `count` jobs in rota order across groups, after bounded housekeeping; no group ever passes its ceiling.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] count integer: jobs
-- ARGV[2] lease_ms integer: ms
-- ARGV[3] max_attempts integer: attempts after which a lapsed job is buried, 0 = never
-- Returns {1, until_ms, token, id, record, id, record, ...}: the first job has `token`, each next one the next integer
local base = KEYS[1]
local count, lease_ms, max_attempts = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
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
local freed = 0
-- Claims: bounded housekeeping, then up to `count` jobs in rota order; gives `reply`. Wants `lease_ms`, `max_attempts`, and
-- in `freed` how many jobs the call has made servable before.
-- What a claim does first: due jobs, ended holds, lapsed leases; at most 64 of each. Wants `max_attempts`, and counts
-- in `fresh` the jobs it made servable.
local fresh = 0
local due = redis.call('ZRANGEBYSCORE', schedule_key, '-inf', now_ms, 'LIMIT', 0, 64)
local over = redis.call('ZRANGEBYSCORE', held_key, '-inf', now_ms, 'LIMIT', 0, 64)
local lapsed = redis.call('ZRANGEBYSCORE', active_key, '-inf', now_ms, 'LIMIT', 0, 64)
if due[1] or over[1] or lapsed[1] then
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
-- Moves the due entries in `due` to their lanes, whatever bars their groups from the ring.
-- Touches each group with the number of jobs it got.
local function come_due(entry)
  local group, lane = group_of(entry), lane_of(entry)
  if record_of(entry) then
    to_lane(group, lane, id_of(entry), seq_of(entry), true)
    touch(group, 1)
  else
    shrink(group, 1)
  end
  redis.call('ZREM', schedule_key, entry)
  redis.pcall('ZREM', out_key, entry)
  delay(group, lane, -1)
end

local promoted = 0
for _, entry in ipairs(due) do
  if pcall(come_due, entry) then
    promoted = promoted + 1
  else
    -- As for a lapsed lease: a key of a foreign type must not stop those behind it.
    redis.call('ZADD', schedule_key, 'XX', now_ms + 1000, entry)
  end
end
  for _, group in ipairs(over) do
    redis.call('ZREM', held_key, group)
    touch(group, 0)
  end
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
  fresh = settle_touched()
end
-- What a claim hands out. Wants `lease_ms`. Numbers that go to many commands are text from here on: a script pays for
-- each that is turned into text, and for each string that it makes.
local sub, format, byte, find, tonumber = string.sub, string.format, string.byte, string.find, tonumber
local call, pcall_ = redis.call, redis.pcall
local state = call('HMGET', state_key, 'clock', 'visit', 'credit', 'granted', 'paused')
local visit, credit, open = state[2], tonumber(state[3]), not state[5]
local until_ms, token = now_ms + lease_ms, math.max((tonumber(state[1]) or 0) + 1, now_us)
local until_text, now_text = format('%.0f', until_ms), format('%.0f', now_ms)
-- Ghosts and empty lanes are gone once met; so many may be met in one call.
local ghosts_left = 1000
local granted, reply = 0, { 1, until_ms, token }

while open and granted < count and ghosts_left > 0 do
  local want = math.min(count - granted, 500)
  local ring = call('LRANGE', ring_key, 0, want - 1)
  if not ring[1] then break end
-- What a claim must know of the groups in `ring`: a handful of commands, however many they are. A group is known by its
-- slot, the place it had in `ring` when that was read; `active_now` and `depth_now` are what visits make of it.
local limits, actives = call('HMGET', glimit_key, unpack(ring)), call('HMGET', gactive_key, unpack(ring))
local weights, depths = call('HMGET', gweight_key, unpack(ring)), call('HMGET', gdepth_key, unpack(ring))
local stamps, active_now, depth_now = nil, {}, {}
-- What visits take from lanes, in order: the job's place as its record has it, its record's key, its lane's, its slot.
local places, names, lane_keys, taken_at, drawn = {}, {}, {}, {}, 0
-- Lanes to be looked at afterwards: those that turned, and, with their inner rings, those that gave the last job there
-- is of their group by its count; `spent` has the lanes of the latter by slot. `dry` ones had nothing when their turn came.
local turned_keys, last_keys, spent, dry = {}, {}, {}, {}
  -- The ring turns in this table and is written back once. A group that stays goes to the end of the table if the
  -- whole ring is in it (`slots` says where it came from), else to `turned`, behind the groups that were not read.
  local whole, head, last, slots = #ring < want, 1, #ring, {}
  local turned, left, left_at, served, unsure, unsure_at = {}, {}, {}, {}, {}, {}
  while want > 0 and head <= last do
    local group, slot = ring[head], slots[head] or head
    if visit ~= group then visit, credit = group, tonumber(weights[slot]) end
    if not credit then
      stamps = stamps or call('HMGET', gstamp_key, unpack(ring, 1, #limits))
      credit = tonumber(stamps[slot]) or 1
    end
-- Visits `group`: each step of its inner ring picks a lane, and the lane gives its oldest job. Ends when `credit` or
-- `want` is used up, or with `full` (the ceiling is reached) or not `more` (nothing waits). What is drawn is looked at
-- by `drawn`, for all visits together. Wants what `heads` reads, and `slot`. Nothing here can fail half way.
local inner_ring = of_group .. group .. inner
local active = active_now[slot] or tonumber(actives[slot]) or 0
local depth, limit = depth_now[slot] or tonumber(depths[slot]) or 0, tonumber(limits[slot]) or math.huge
local more, full = true, active >= limit
while more and not full and credit > 0 and want > 0 do
  local last_one = depth == 1
  local lane
  if last_one then
    lane = pcall_('LPOP', inner_ring)
  else
    lane = pcall_('LMOVE', inner_ring, inner_ring, 'LEFT', 'RIGHT')
  end
  if type(lane) ~= 'string' then
    more = false
    break
  end
  local key = of_group .. group .. ':' .. lane .. pending
  if lane == group then key = of_group .. group .. pending end
  local oldest = pcall_('ZPOPMIN', key)
  local id, seq = oldest[1], oldest[2]
  if id then
    drawn, depth, active, want, credit = drawn + 1, depth - 1, active + 1, want - 1, credit - 1
    -- As a score a seq has its 16 digits, but for a server whose clock is in the last century.
    if #seq ~= 16 then seq = format('%016.0f', tonumber(seq)) end
    places[drawn], names[drawn], lane_keys[drawn], taken_at[drawn] = group .. seq .. lane, of_job .. id, key, slot
    full = active >= limit
    if last_one then
      last_keys[#last_keys + 1], last_keys[#last_keys + 2], spent[slot] = key, inner_ring, lane
    else
      turned_keys[#turned_keys + 1] = key
    end
    if depth <= 0 then break end
  else
    dry[key] = true
    if not last_one then call('RPOP', inner_ring) end
    more = call('EXISTS', inner_ring) == 1
  end
end
active_now[slot], depth_now[slot] = active, depth
    if full or not more then
      left[#left + 1], left_at[#left + 1] = group, slot
      head, visit = head + 1, false
    elseif depth <= 0 then
      unsure[#unsure + 1], unsure_at[#unsure + 1] = group, slot
      head, visit = head + 1, false
    elseif credit == 0 then
      served[#served + 1] = group
      served[#served + 1] = now_text
      head, visit = head + 1, false
      if whole then
        last = last + 1
        ring[last], slots[last] = group, slot
      else
        turned[#turned + 1] = group
      end
    end
  end
-- Looks at what visits drew, for all of them together: leases what has a record, and takes lanes that are empty now from
-- their inner rings. Gives `leases`, `indexed`, and where a lane was emptied, in `empty` (by group) whether a group has
-- none left. Nothing here can fail half way.
local leases, indexed, empty = {}, {}, nil
if drawn > 0 then
  local records, short = call('MGET', unpack(names)), false
  for i = 1, drawn do
    local record, place, name = records[i], places[i], names[i]
    -- A place that the record does not own is a ghost: skipped, uncounted; the next of its lane takes its turn.
    if not record or find(record, place, 1, true) ~= 1 then
-- A ghost's turn is taken by the next job of its lane that has a record: those drawn after it move up, and more is drawn
-- behind them. Gives `record`, `place` and `name` of the job at `i`, or no record where the lane has none any more.
local slot, key, spent = taken_at[i], lane_keys[i], false
repeat
  ghosts_left = ghosts_left - 1
  local at, more_drawn = i, false
  for later = i + 1, drawn do
    if lane_keys[later] == key then
      places[at], names[at], records[at], at = places[later], names[later], records[later], later
      more_drawn = more_drawn or records[later]
    end
  end
  local oldest = pcall_('ZPOPMIN', key)
  local id, seq = oldest[1], oldest[2]
  records[at] = false
  if id then
    depth_now[slot] = depth_now[slot] - 1
    names[at], places[at] = of_job .. id, sub(place, 1, 14) .. format('%016.0f', tonumber(seq)) .. sub(place, 31, 44)
    records[at] = call('MGET', names[at])[1]
  end
  record, place, name = records[i], places[i], names[i]
  if not record or find(record, place, 1, true) ~= 1 then record = nil end
  spent = not id and not more_drawn
until record or spent or ghosts_left <= 0
if not record then
  active_now[slot] = active_now[slot] - 1
  short = true
end
    end
    if record then
      local high, low = byte(record, 51, 52)
      local id = sub(name, #of_job + 1)
      -- `..` would print the token as 1.79e+15.
      local lease = place .. id .. format('%016.0f', token) .. (low + high == 0 and '1'
        or math.min(high % 128 * 256 + low + 1, 32767))
      leases[#leases + 1] = until_text
      leases[#leases + 1] = lease
      indexed[#indexed + 1] = '0'
      indexed[#indexed + 1] = lease
      reply[2 * granted + 4], reply[2 * granted + 5] = id, record
      granted, token = granted + 1, token + 1
    end
  end
  if last_keys[1] and call('EXISTS', unpack(last_keys)) > 0 then
-- The count of a group was wrong: it has more than the job that seemed to be its last one. Such a group stays.
for i = 1, #last_keys, 2 do
  local key, inner_ring = last_keys[i], last_keys[i + 1]
  for slot, lane in pairs(spent) do
    if inner_ring == of_group .. ring[slot] .. inner then
      if call('EXISTS', key) == 1 then call('RPUSH', inner_ring, lane) end
      if call('EXISTS', inner_ring) == 1 then spent[slot] = nil end
    end
  end
end
  end
  if short or next(dry) or turned_keys[1] and call('EXISTS', unpack(turned_keys)) < #turned_keys then
-- Takes lanes that are empty now from their inner rings, without a search: those that were visited are the last ones,
-- in the order of their last visits.
empty = {}
local met, alive, kept, gone = {}, {}, {}, {}
for i = 1, drawn do
  local key = lane_keys[i]
  if alive[key] == nil then alive[key] = call('EXISTS', key) == 1 end
  if not alive[key] or dry[key] or short then gone[taken_at[i]] = true end
end
for i = drawn, 1, -1 do
  local slot, key = taken_at[i], lane_keys[i]
  if gone[slot] and not spent[slot] and not met[key] and not dry[key] then
    local lane = call('RPOP', of_group .. ring[slot] .. inner)
    met[key], kept[slot] = true, kept[slot] or {}
    if alive[key] then table.insert(kept[slot], 1, lane) end
  end
end
for slot in pairs(gone) do
  local inner_ring, lanes = of_group .. ring[slot] .. inner, kept[slot]
  if lanes and lanes[1] then call('RPUSH', inner_ring, unpack(lanes)) end
  empty[ring[slot]] = not (lanes and lanes[1]) and call('EXISTS', inner_ring) == 0
end
  end
end
-- Writes down what the visits did to the groups that `heads` read: leases first, then what counts them.
if leases[1] then
  call('ZADD', active_key, unpack(leases))
  pcall_('ZADD', out_key, unpack(indexed))
end
do
  local counts, depth, emptied, paces = {}, {}, {}, {}
  for slot = 1, #active_now do
    local group, active, deep = ring[slot], active_now[slot], depth_now[slot]
    if active ~= (tonumber(actives[slot]) or 0) then
      counts[#counts + 1] = group
      counts[#counts + 1] = active
    end
    if deep <= 0 then
      emptied[#emptied + 1] = group
      paces[#paces + 1] = group
      paces[#paces + 1] = 'p' .. group
    else
      depth[#depth + 1] = group
      depth[#depth + 1] = deep
    end
  end
  if counts[1] then call('HSET', gactive_key, unpack(counts)) end
  if depth[1] then call('HSET', gdepth_key, unpack(depth)) end
  if emptied[1] then
    call('HDEL', gdepth_key, unpack(emptied))
    call('HDEL', gstamp_key, unpack(emptied))
    call('HDEL', gflow_key, unpack(paces))
  end
end
  if empty then
-- Lets those groups leave the ring that, as it turned out, have no lane left (`empty`); and takes back in those that left
-- for a ceiling that ghosts alone had reached.
local function staying(groups, from, to)
  local stay = from - 1
  for at = from, to do
    local group = groups[at]
    if empty[group] then
      left[#left + 1] = group
    else
      stay = stay + 1
      groups[stay] = group
    end
  end
  for at = stay + 1, to do groups[at] = nil end
  return stay
end

for at = #left, 1, -1 do
  local group, slot = left[at], left_at[at]
  if empty[group] == false and active_now[slot] < (tonumber(limits[slot]) or math.huge) then
    table.remove(left, at)
    unsure[#unsure + 1], unsure_at[#unsure + 1] = group, slot
  end
end
if visit and empty[visit] then
  left[#left + 1] = visit
  head, visit = head + 1, false
end
if whole then last = staying(ring, head, last) else staying(turned, 1, #turned) end
  end
  for i = 1, #unsure do
    local group = unsure[i]
    if spent[unsure_at[i]] or empty and empty[group] then
      left[#left + 1] = group
    else
      served[#served + 1] = group
      served[#served + 1] = now_text
      last = last + 1
      ring[last] = group
      turned[#turned + 1] = group
    end
  end
  if head > 1 then
    if whole then
      call('DEL', ring_key)
      if head <= last then call('RPUSH', ring_key, unpack(ring, head, last)) end
    else
      call('LPOP', ring_key, head - 1)
      if turned[1] then call('RPUSH', ring_key, unpack(turned)) end
    end
    -- In this order: a group may have turned, and left later.
    if served[1] then call('HSET', served_key, unpack(served)) end
    if left[1] then call('HDEL', served_key, unpack(left)) end
  end
end
-- Ends a claim: the clock, the visit in progress, and who else should wake.
if granted > 0 then
  local before = tonumber(state[4]) or 0
  local after = before + granted
  call('HSET', state_key, 'clock', format('%.0f', token - 1), 'granted', format('%.0f', after))
  if before == 0 or after % 256 < granted then
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
    look(state_key, 'pace', before == 0 and 0 or after)
  end
end
if visit then
  if visit ~= state[2] or credit ~= tonumber(state[3]) then
    call('HSET', state_key, 'visit', visit, 'credit', credit)
  end
elseif state[2] then
  call('HDEL', state_key, 'visit', 'credit')
end
-- Whoever leaves servable work behind wakes another; what housekeeping made servable wakes as many as it is.
local servable = 0
if open and call('EXISTS', ring_key) == 1 then
  servable = freed + fresh - granted
  if servable < 1 and call('EXISTS', wake_key) == 0 then servable = 1 end
end
-- A parked worker looks at what is due every 4 s at least; a lease that ends before that may be news to it.
if granted > 0 and lease_ms < 4000 and tonumber(call('ZRANGE', active_key, 0, 0, 'WITHSCORES')[2]) == until_ms then
  servable = math.max(servable, 0) + 1
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
return reply
