#!lua flags=no-writes
-- Finds the smallest seq of a group that is waiting, scheduled or leased; costs a look at each of its lanes.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- Returns {1, seq}, or {-1} for none
local base = KEYS[1]
local group = ARGV[1]
-- @include keys
-- @include names
-- @include entry
-- @include index
local oldest = math.huge

-- The first entry of a lane whose job is there; ghosts in front of it are passed over.
for _, lane in ipairs(redis.call('LRANGE', inner_key(group), 0, -1)) do
  local key, rank = lane_key(group, lane), 0
  repeat
    local head = redis.call('ZRANGE', key, rank, rank, 'WITHSCORES')
    local seq = tonumber(head[2])
    local found = seq and record_of(core_at(group, lane, seq, head[1]))
    if found then oldest = math.min(oldest, seq) end
    rank = rank + 1
  until found or not seq
end

local after, found = '-', false
repeat
  local entries = indexed(group, after, '', 100)
  for _, entry in ipairs(entries) do
    if sub(entry, -1) ~= 'd' then
      oldest, found = math.min(oldest, tonumber(seq_of(entry))), true
      break
    end
  end
  after = entries[100] and seq_of(entries[100]) or ''
until found or after == ''

if oldest == math.huge then return { -1 } end
return { 1, oldest }
