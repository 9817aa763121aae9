#!lua flags=no-writes
-- Shows some of the jobs of one group, or of the whole queue, that are in one state. Looks at some 500 places a call.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id, or empty for all (not for what waits)
-- ARGV[2] state integer: 1 waiting, in the order of the group's lanes; 2 scheduled, 3 leased, 4 dead: of a group by seq,
--   of the queue by time
-- ARGV[3] n integer: jobs
-- ARGV[4] after integer: how many places of the group's entries were looked at before
-- Returns {1, after, id, at_ms, attempts, record, id, ...}: `after` is -1 at the end
local base = KEYS[1]
local group, state, n, after = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
-- @include keys
-- @include names
-- @include entry
local reply, found = { 1, -1 }, 0

-- A ghost is not shown.
local function show(entry, at_ms, attempts)
  local record = record_of(entry)
  if not record then return end
  local high, low = string.byte(record, 51, 52)
  found = found + 1
  for _, word in ipairs({ id_of(entry), at_ms, attempts or high % 128 * 256 + low, record }) do reply[#reply + 1] = word end
end

if state == 1 then
  -- As the inner ring turns: the first of each lane, then the second of each.
  local lanes, looks, rank = redis.call('LRANGE', inner_key(group), 0, n - 1), 0, 0
  while lanes[1] and found < n and looks < n + 500 do
    local left = {}
    for _, lane in ipairs(lanes) do
      local job = redis.call('ZRANGE', lane_key(group, lane), rank, rank, 'WITHSCORES')
      looks = looks + 1
      if job[1] then
        left[#left + 1] = lane
        if found < n then show(core_at(group, lane, job[2], job[1]), 0) end
      end
    end
    lanes, rank = left, rank + 1
  end
  return reply
end

local key, mark = ({ nil, schedule_key, active_key, dead_key })[state], ({ nil, 's', nil, 'd' })[state]
local entries = group == '' and redis.call('ZRANGE', key, after, after + 499)
  or redis.call('ZRANGEBYLEX', out_key, '[' .. group, '(' .. group .. '~', 'LIMIT', after, 500)
for at, entry in ipairs(entries) do
  local kind = sub(entry, 59)
  if mark and kind == mark or not mark and #kind > 1 then
    local at_ms = redis.call('ZSCORE', key, entry)
    if at_ms then show(entry, tonumber(at_ms), not mark and tonumber(sub(entry, 75)) or nil) end
  end
  if found == n then break end
  if at == 500 then reply[2] = after + 500 end
end
return reply
