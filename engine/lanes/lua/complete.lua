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
-- @include entry
-- @include fence
if not ended[1] then return codes end

local limits, actives = redis.call('HMGET', glimit_key, unpack(groups)), redis.call('HMGET', gactive_key, unpack(groups))
local takens = redis.call('SMISMEMBER', taken_key, unpack(groups))
redis.call('ZREM', active_key, unpack(ended))
local done, counts, idle, free, opened = {}, {}, {}, {}, {}
for i, code in ipairs(codes) do
  if code == 1 then done[#done + 1] = names[i] end
end
if done[1] then redis.call('DEL', unpack(done)) end
for i, group in ipairs(groups) do
  local before, limit = tonumber(actives[i]) or 0, tonumber(limits[i])
  local after = before - #ended_of[group]
  redis.pcall('ZREM', out_key(group), unpack(ended_of[group]))
  if after > 0 then
    counts[#counts + 1], counts[#counts + 2] = group, after
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
  -- @include wake
  -- @include ring
  -- @include hold
  if cooldown_ms > 0 then
    for _, group in ipairs(groups) do hold(group, now_ms + cooldown_ms, 'GT') end
  end
  local servable = 0
  for _, group in ipairs(opened) do servable = servable + reopen(group) end
  wake(servable)
end
return codes
