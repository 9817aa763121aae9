#!lua flags=allow-oom
-- Gives a failed job back to its old place in its lane, at once or later, or buries it if its attempts are used up.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] lease string: the entry of `active`
-- ARGV[2] delay_ms integer: ms, 0 = at once
-- ARGV[3] max_attempts integer: 0 = never bury
-- ARGV[4] text string: what is remembered of the failure
-- Returns {code}: 1 ok, 2 dead, -1 stale, -2 gone
local base = KEYS[1]
local lease, delay_ms, max_attempts, text = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
-- @include keys
-- @include now
-- @include names
-- @include entry
if not redis.call('ZSCORE', active_key, lease) then return { -1 } end
-- @include ring
-- @include touched
-- @include backlog
-- @include lane
-- @include lease

local group, record, code, servable = group_of(lease), record_of(lease), 1, 0
if not record then
  end_lease(lease)
  touch(group, 0)
  code = -2
elseif max_attempts > 0 and tonumber(sub(lease, 75)) >= max_attempts then
  bury(record, lease, text)
  touch(group, 0)
  code = 2
elseif delay_ms == 0 then
  put_back(lease)
  scar(record, lease, text)
  touch(group, 1)
else
  servable = postpone(record, lease, text, now_ms + delay_ms)
  touch(group, 0)
end
servable = servable + settle_touched()
-- @include wake
return { code }
