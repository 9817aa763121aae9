-- Deletes what waits in a lane up to seq `horizon`, at most `budget` jobs; wants both. Gives in `deleted` the number.
local deleted, budget = 0, 500

local function sweep(lane)
  local ids, names, found = {}, {}, redis.call('ZRANGEBYSCORE', lane_key(group, lane), '-inf', horizon,
    'WITHSCORES', 'LIMIT', 0, budget - deleted)
  for i = 1, #found, 2 do ids[#ids + 1], names[#names + 1] = found[i], job_key(found[i]) end
  if not ids[1] then return end
  local records, mine = redis.call('MGET', unpack(names)), {}
  for i = 1, #ids do
    local core = core_at(group, lane, found[2 * i], ids[i])
    if records[i] and sub(records[i], 1, 44) == sub(core, 1, 44) then mine[#mine + 1] = names[i] end
  end
  from_lane(group, lane, ids)
  if mine[1] then redis.call('DEL', unpack(mine)) end
  unserved(group, #ids)
  shrink(group, #ids)
  deleted = deleted + #mine
end

-- Deletes the record of an entry, if it is that entry's, and answers how many that were.
local function delete(entry)
  if not record_of(entry) then return 0 end
  return redis.call('DEL', job_key(id_of(entry)))
end

-- Deletes a scheduled job.
local function cancel(entry)
  redis.call('ZREM', schedule_key, entry)
  redis.call('ZREM', out_key, entry)
  delay(group, lane_of(entry), -1)
  unserved(group, 1)
  shrink(group, 1)
  deleted = deleted + delete(entry)
end
