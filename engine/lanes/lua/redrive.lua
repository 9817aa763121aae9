#!lua
-- Admits dead jobs afresh, each to its own lane; one that a cap has no room for stays dead. Looks at 500 a call.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id, or empty for all
-- ARGV[2] id string: a branded id, or empty for any
-- ARGV[3] limit integer: jobs
-- ARGV[4] after string: where the last call stopped: of one group the seq (or - at first), else how many stayed dead
-- Returns {1, redriven, after}: `after` is empty at the end
-- Not allowed out of memory, as no admission is.
local base = KEYS[1]
local group, id, limit, after = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
-- @include keys
-- @include now
-- @include names
-- @include entry
-- @include index
-- @include ring
-- @include touched
-- @include backlog
-- @include lane
-- @include capped
local seq = math.max(tonumber(redis.call('HGET', state_key, 'clock')) or 0, now_us - 1)
local fresh = struct.pack('>I6I2', now_ms, 0)
local entries, redriven, stayed = {}, 0, 0
if id ~= '' then
  local record = redis.call('MGET', job_key(id))[1]
  if record then entries[1] = sub(record, 1, 44) .. id .. 'd' end
elseif group ~= '' then
  entries = indexed(group, after, '', 500)
else
  entries = redis.call('ZRANGE', dead_key, after, after + 499)
end

-- A ghost of a dead job goes; it is not counted.
local function revive(entry)
  local its, lane, record, old = group_of(entry), lane_of(entry), record_of(entry), id_of(entry)
  if record and is_full(its, lane) then return false end
  if record then
    local last = #record
    if string.byte(record, 51) >= 128 then last = last - 2 - struct.unpack('>I2', record, last - 1) end
    local seq_text = string.format('%016.0f', seq + 1)
    to_lane(its, lane, old, seq_text, false)
    redis.call('SET', job_key(old), its .. seq_text .. lane .. fresh .. sub(record, 53, last))
    let_in(its)
    seq, redriven = seq + 1, redriven + 1
    touch(its, 1)
  end
  redis.call('ZREM', dead_key, entry)
  redis.pcall('ZREM', out_key, entry)
  return true
end

local last
for _, entry in ipairs(entries) do
  if redriven == limit then break end
  last = entry
  if sub(entry, 59) == 'd' and redis.call('ZSCORE', dead_key, entry) and (group == '' or group_of(entry) == group) then
    local fine, gone = pcall(revive, entry)
    if not (fine and gone) then stayed = stayed + 1 end
  end
end
if redriven > 0 then redis.call('HSET', state_key, 'clock', string.format('%.0f', seq)) end
local servable = settle_touched()
-- @include wake
local over = id ~= '' or #entries < 500 and last == entries[#entries]
if over then return { 1, redriven, '' } end
return { 1, redriven, group ~= '' and (last and seq_of(last) or after) or string.format('%.0f', after + stayed) }
