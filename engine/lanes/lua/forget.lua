#!lua flags=allow-oom
-- Deletes all of a group up to a horizon, whatever state it is in, and at the end its levers; some 500 jobs a call.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] group string: a branded id
-- ARGV[2] horizon string: the newest seq to delete, or empty for the newest there is
-- Returns {1, deleted, horizon, over}: `over` is 1 at the end, else 0
local base = KEYS[1]
local group, horizon, lane = ARGV[1], ARGV[2], ''
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
if horizon == '' then horizon = redis.call('HGET', state_key, 'clock') or '0' end
-- @include sweep
-- @include lanes
local entries = {}
if waiting_over then
  entries = indexed(group, '-', horizon, 500)
  for _, entry in ipairs(entries) do
    if redis.call('ZSCORE', schedule_key, entry) then
      cancel(entry)
    else
      deleted = deleted + delete(entry)
      if redis.call('ZSCORE', active_key, entry) then end_lease(entry) end
      redis.call('ZREM', dead_key, entry)
      redis.call('ZREM', out_key, entry)
    end
  end
end
local over = waiting_over and not entries[500]
if over then
  for _, key in ipairs({ glimit_key, gweight_key, gcap_key }) do redis.call('HDEL', key, group) end
  redis.call('HDEL', gflow_key, group, 'p' .. group)
  redis.call('SREM', paused_key, group)
  redis.call('ZREM', held_key, group)
end
-- What came in meanwhile may be served now.
touch(group, 0)
local servable = settle_touched()
-- @include wake
return { 1, deleted, horizon, over and 1 or 0 }
