-- Leases what `pick` took. The grants are written together at the end of the call: nothing between the two can fail.
-- Wants `lease_ms`.
local state = redis.call('HMGET', state_key, 'clock', 'visit', 'credit')
local first = math.max((tonumber(state[1]) or 0) + 1, now_us)
local visit, credit = state[2], tonumber(state[3])
local until_ms, token, granted = now_ms + lease_ms, first, 0
local reply, leases, outs = { 1, until_ms, first }, {}, {}

local function grant(id, record, group)
  -- `..` would print the token as 1.79e+15.
  local lease = id .. sub(record, 1, 44) .. string.format('%016.0f', token) .. attempt_of(record)
  leases[2 * granted + 1], leases[2 * granted + 2] = until_ms, lease
  reply[2 * granted + 4], reply[2 * granted + 5] = id, record
  local out = outs[group]
  if out then
    out[#out + 1], out[#out + 2] = sub(record, 29, 44), lease
  else
    outs[group] = { sub(record, 29, 44), lease }
  end
  actives[group], token, granted = actives[group] + 1, token + 1, granted + 1
end

-- `unpack` holds some thousands at most.
local function in_portions(call, command, key, list)
  for i = 1, #list, 2000 do call(command, key, unpack(list, i, math.min(i + 1999, #list))) end
end

local function write_grants()
  in_portions(redis.call, 'ZADD', active_key, leases)
  local counts, depth, emptied = {}, {}, {}
  for _, group in ipairs(known) do
    if outs[group] then
      in_portions(redis.pcall, 'ZADD', out_key(group), outs[group])
      counts[#counts + 1], counts[#counts + 2] = group, actives[group]
    end
    if depths[group] <= 0 then
      emptied[#emptied + 1] = group
    elseif depths[group] ~= depths_before[group] then
      depth[#depth + 1], depth[#depth + 2] = group, depths[group]
    end
  end
  in_portions(redis.call, 'HSET', gactive_key, counts)
  in_portions(redis.call, 'HSET', gdepth_key, depth)
  in_portions(redis.call, 'HDEL', gdepth_key, emptied)
  in_portions(redis.call, 'HDEL', gstamp_key, emptied)
  if granted > 0 then redis.call('HSET', state_key, 'clock', string.format('%.0f', token - 1)) end
  if visit then
    redis.call('HSET', state_key, 'visit', visit, 'credit', credit)
  elseif state[2] then
    redis.call('HDEL', state_key, 'visit', 'credit')
  end
end

-- Whoever leaves servable work behind wakes another; what housekeeping made servable wakes as many as it is.
local function wake_for_rest()
  if redis.call('EXISTS', ring_key) == 0 then return end
  if fresh - granted > 1 then
    wake(fresh - granted)
  elseif redis.call('EXISTS', wake_key) == 0 then
    wake(1)
  end
end
