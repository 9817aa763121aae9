#!lua flags=no-writes
-- Tells what is known of one job.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] id string: a branded id
-- Returns {code, at_ms, attempts, record}: 1 waiting (at_ms 0), 2 scheduled (due), 3 leased (deadline), 4 dead (since),
--   or {-1}: no such job
local base = KEYS[1]
local id = ARGV[1]
-- @include keys
-- @include names
-- @include entry
local record = redis.call('GET', job_key(id))
if not record then return { -1 } end
local core = sub(record, 1, 44) .. id
local group, seq = group_of(core), tonumber(seq_of(core))
local _, low = string.byte(record, 51, 52)
local attempts = string.byte(record, 51) % 128 * 256 + low
if tonumber(redis.call('ZSCORE', lane_key(group, lane_of(core)), id)) == seq then return { 1, 0, attempts, record } end
for _, entry in ipairs(redis.call('ZRANGEBYLEX', out_key, '[' .. core, '(' .. core .. '~')) do
  local kind = sub(entry, 59)
  if kind == 's' then return { 2, tonumber(redis.call('ZSCORE', schedule_key, entry)), attempts, record } end
  if kind == 'd' then return { 4, tonumber(redis.call('ZSCORE', dead_key, entry)), attempts, record } end
  return { 3, tonumber(redis.call('ZSCORE', active_key, entry)), tonumber(sub(entry, 75)), record }
end
return { -1 }
