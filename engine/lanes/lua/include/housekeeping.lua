-- What a claim does first: due jobs, ended holds, lapsed leases; at most 64 of each. Wants `max_attempts`, and counts
-- in `fresh` the jobs it made servable.
local fresh = 0
local due = redis.call('ZRANGEBYSCORE', schedule_key, '-inf', now_ms, 'LIMIT', 0, 64)
local over = redis.call('ZRANGEBYSCORE', held_key, '-inf', now_ms, 'LIMIT', 0, 64)
local lapsed = redis.call('ZRANGEBYSCORE', active_key, '-inf', now_ms, 'LIMIT', 0, 64)
if due[1] or over[1] or lapsed[1] then
  -- @include names
  -- @include entry
  -- @include ring
  -- @include touched
  -- @include backlog
  -- @include lane
  -- @include lease
  -- @include due
  for _, group in ipairs(over) do
    redis.call('ZREM', held_key, group)
    touch(group, 0)
  end
  -- @include lapse
  fresh = settle_touched()
end
