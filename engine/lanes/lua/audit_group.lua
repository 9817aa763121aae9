#!lua flags=allow-oom
-- Recomputes all that is counted of one group from its lanes and its leases, and its places on the rings.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] repair integer: 1 = mend, 0 = only look
-- ARGV[2] group string: a branded id
-- ARGV[3] times integer: how often the ring seemed to have the group; looked up where that is not what it should be
-- ARGV[4..] lanes string: branded ids, lanes that the group may have besides those on its inner ring
-- Returns {1, {what, where, found, expected}...}
local base = KEYS[1]
local repair, group, times, lanes = ARGV[1] == '1', ARGV[2], tonumber(ARGV[3]), { unpack(ARGV, 4) }
-- @include keys
-- @include now
-- @include names
-- @include entry
-- @include ring
-- @include drift
local function count(what, key, field, expected)
  local found = redis.call('HGET', key, field)
  if (tonumber(found) or 0) == expected and (found and expected > 0 or not found and expected == 0) then return end
  drift(what, field, found or 'nothing', expected)
  if repair and expected > 0 then redis.call('HSET', key, field, expected) end
  if repair and expected <= 0 then redis.call('HDEL', key, field) end
end

-- Lanes and the inner ring.
local waiting, known, turned, wrong = 0, {}, {}, false
for _, lane in ipairs(redis.call('LRANGE', inner_key(group), 0, -1)) do
  local size = not known[lane] and redis.call('ZCARD', lane_key(group, lane)) or 0
  wrong, waiting = wrong or size == 0, waiting + size
  if size > 0 then turned[#turned + 1], known[lane] = lane, true end
end
for _, lane in ipairs(lanes) do
  local size = not known[lane] and redis.call('ZCARD', lane_key(group, lane)) or 0
  wrong, waiting = wrong or size > 0, waiting + size
  if size > 0 then turned[#turned + 1], known[lane] = lane, true end
end
if wrong then
  drift('inner ring', group, redis.call('LLEN', inner_key(group)), #turned)
  if repair then
    redis.call('DEL', inner_key(group))
    for _, lane in ipairs(turned) do redis.call('RPUSH', inner_key(group), lane) end
  end
end

-- What is leased, scheduled and dead.
local active, scheduled, delayed = 0, 0, {}
for _, lane in ipairs(lanes) do delayed[lane] = 0 end
for lane in pairs(known) do delayed[lane] = 0 end
for _, entry in ipairs(redis.call('ZRANGEBYLEX', out_key, '[' .. group, '(' .. group .. '~')) do
  if redis.call('ZSCORE', active_key, entry) then
    active = active + 1
  elseif redis.call('ZSCORE', schedule_key, entry) then
    scheduled, delayed[lane_of(entry)] = scheduled + 1, (delayed[lane_of(entry)] or 0) + 1
  elseif not redis.call('ZSCORE', dead_key, entry) then
    drift('index', entry, seq_of(entry), 'nothing')
    if repair then redis.call('ZREM', out_key, entry) end
  end
end
local depth = waiting + scheduled
count('depth', gdepth_key, group, depth)
count('active', gactive_key, group, active)
for lane, number in pairs(delayed) do count('delayed', ldelayed_key, group .. lane, number) end
if depth == 0 then count('stamp', gstamp_key, group, 0) end
if redis.call('HEXISTS', gflow_key, group) + redis.call('HEXISTS', gflow_key, 'p' .. group) > 0
  and (depth == 0 or redis.call('HEXISTS', gcap_key, group) == 0) then
  drift('pace', group, 'kept', 'nothing')
  if repair then redis.call('HDEL', gflow_key, group, 'p' .. group) end
end
if active == 0 and redis.call('SISMEMBER', taken_key, group) == 1 then
  drift('taken', group, 'taken', 'nothing')
  if repair then redis.call('SREM', taken_key, group) end
end
-- @include audit_ring
-- @include wake
return { 1, unpack(drifts) }
