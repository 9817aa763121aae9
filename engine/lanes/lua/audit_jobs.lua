#!lua flags=allow-oom
-- Looks whether each of some jobs is in a place; one in none waits again, at the place its seq gives it.
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
local function placed(entry)
  if tonumber(redis.call('ZSCORE', lane_key(group_of(entry), lane_of(entry)), id_of(entry))) == tonumber(seq_of(entry)) then
    return true
  end
  for _, other in ipairs(redis.call('ZRANGEBYLEX', out_key, '[' .. entry, '(' .. entry .. '~')) do
    for _, key in ipairs({ active_key, schedule_key, dead_key }) do
      if redis.call('ZSCORE', key, other) then return true end
    end
  end
  return false
end

for _, id in ipairs(ids) do
  local record = redis.call('MGET', job_key(id))[1]
  local entry = record and sub(record, 1, 44) .. id
  if record and (#record < 52 or not string.match(entry, '^%w+$')) then
    drift('record', id, 'no record', 'a record')
    if repair then redis.call('DEL', job_key(id)) end
  elseif record then
    local fine, there = pcall(placed, entry)
    if not (fine and there) then
      drift('lost', entry, 'no place', 'a place')
      if repair then to_lane(group_of(entry), lane_of(entry), id, seq_of(entry), false) end
    end
  end
end
return { 1, unpack(drifts) }
