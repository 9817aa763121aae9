#!lua flags=allow-oom
-- Ends up to `limit` lapsed leases of one group, as `reap` does; looks at 500 of the group's entries a call.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- ARGV[2] limit integer: leases
-- ARGV[3] max_attempts integer: 0 = never bury
-- ARGV[4] after string: the seq where the last call stopped, or - at first
-- Returns {1, reaped, after}: `after` is empty at the end
local base = KEYS[1]
local group, limit, max_attempts, after = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
-- @include keys
-- @include now
-- @include names
-- @include entry
-- @include index
-- @include ring
-- @include touched
-- @include backlog
-- @include lane
-- @include lease
local entries = indexed(group, after, '', 500)
local lapsed = {}
if entries[1] then
  local deadlines = redis.call('ZMSCORE', active_key, unpack(entries))
  for i, entry in ipairs(entries) do
    if deadlines[i] and tonumber(deadlines[i]) <= now_ms and #lapsed < limit then lapsed[#lapsed + 1] = entry end
  end
end
-- @include lapse
local servable = settle_touched()
-- @include wake
return { 1, reaped, entries[500] and seq_of(entries[500]) or '' }
