#!lua flags=allow-oom
-- Deletes what waits and is scheduled in a group or one lane of it, up to a horizon; some 500 jobs a call.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- ARGV[2] lane string: a branded id, or empty for all
-- ARGV[3] horizon string: the newest seq to delete, or empty for the newest there is
-- ARGV[4] after string: the seq of the entry where the last call stopped, or - at first
-- Returns {1, deleted, horizon, after}: `after` is empty at the end
local base = KEYS[1]
local group, lane, horizon, after = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
-- @include keys
-- @include now
-- @include names
-- @include entry
-- @include index
-- @include ring
-- @include touched
-- @include backlog
-- @include lane
if horizon == '' then horizon = redis.call('HGET', state_key, 'clock') or '0' end
-- @include sweep
-- @include lanes
local entries = {}
if waiting_over then
  entries = indexed(group, after, horizon, 500)
  for _, entry in ipairs(entries) do
    local mine = lane == '' or lane_of(entry) == lane
    if sub(entry, 59) == 's' and mine and redis.call('ZSCORE', schedule_key, entry) then cancel(entry) end
    after = seq_of(entry)
  end
end
refresh(group)
return { 1, deleted, horizon, waiting_over and not entries[500] and '' or after }
