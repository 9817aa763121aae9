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
