#!lua flags=allow-oom
-- Ends the leases of finished jobs and forgets the jobs; a cool-down holds their groups and never shortens a hold.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] cooldown_ms integer: ms, 0 = none
-- ARGV[2..] leases string: entries of `active`
-- Returns {code, ...}, one a lease: 1 ok, -1 stale, -2 gone
local base = KEYS[1]
local cooldown_ms, leases = tonumber(ARGV[1]), { unpack(ARGV, 2) }
-- @include keys
-- @include now
local sub = string.sub

-- I4: ask which leases still live before anything is written; only the newest token of a job has an entry.
local deadlines, names = redis.call('ZMSCORE', active_key, unpack(leases)), {}
for i = 1, #leases do names[i] = of_job .. sub(leases[i], 1, 14) end
local records = redis.call('MGET', unpack(names))
local codes, ended, done, groups, ended_of, seen = {}, {}, {}, {}, {}, {}
for i = 1, #leases do
  local lease = leases[i]
  if not deadlines[i] or seen[lease] then
    codes[i] = -1
  else
    local group, record = sub(lease, 15, 28), records[i]
    seen[lease], ended[#ended + 1] = true, lease
    if record and sub(record, 1, 44) == sub(lease, 15, 58) then
      codes[i], done[#done + 1] = 1, names[i]
    else
      codes[i] = -2
    end
    local its = ended_of[group]
    if its then
      its[#its + 1] = lease
    else
      groups[#groups + 1], ended_of[group] = group, { lease }
    end
  end
end
if not ended[1] then return codes end

local limits = redis.call('HMGET', glimit_key, unpack(groups))
local actives = redis.call('HMGET', gactive_key, unpack(groups))
local takens = redis.call('SMISMEMBER', taken_key, unpack(groups))
redis.call('ZREM', active_key, unpack(ended))
if done[1] then redis.call('DEL', unpack(done)) end
local counts, idle, free, opened = {}, {}, {}, {}
for i = 1, #groups do
  local group, before, limit = groups[i], tonumber(actives[i]) or 0, tonumber(limits[i])
  local after = before - #ended_of[group]
  redis.pcall('ZREM', of_group .. group .. out, unpack(ended_of[group]))
  if after > 0 then
    counts[#counts + 1] = group
    counts[#counts + 1] = after
  else
    idle[#idle + 1] = group
  end
  if takens[i] == 1 then
    if after <= 0 then free[#free + 1], opened[#opened + 1] = group, group end
  elseif limit and before >= limit and after < limit then
    opened[#opened + 1] = group
  end
end
if counts[1] then redis.call('HSET', gactive_key, unpack(counts)) end
if idle[1] then redis.call('HDEL', gactive_key, unpack(idle)) end
if free[1] then redis.call('SREM', taken_key, unpack(free)) end

-- Only a group that was full or taken was off the ring for it; nobody else's place changes.
if cooldown_ms > 0 or opened[1] then
  -- @include names
  -- @include ring
  -- @include hold
  local servable = 0
  if cooldown_ms > 0 then
    for _, group in ipairs(groups) do servable = servable + hold(group, now_ms + cooldown_ms, 'GT') end
  end
  for _, group in ipairs(opened) do servable = servable + reopen(group) end
  -- @include wake
end
return codes
