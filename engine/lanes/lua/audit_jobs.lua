#!lua flags=allow-oom
-- Looks whether each of some jobs is in one place. One in none waits again, where its seq puts it; one in several keeps
-- the place nearest to its end: a lease before its lane, that before the schedule, and that before the dead set.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] repair integer: 1 = mend, 0 = only look
-- ARGV[2..] ids string: branded ids
-- Returns {1, {what, where, found, expected}...}
local base = KEYS[1]
local repair, ids = ARGV[1] == '1', { unpack(ARGV, 2) }
-- @include keys
-- @include names
-- @include entry
-- @include backlog
-- @include lane
-- @include drift
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
