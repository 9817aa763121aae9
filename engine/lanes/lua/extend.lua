#!lua flags=allow-oom
-- Moves the deadlines of live leases to `lease_ms` from now; a lease whose job is gone ends.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] lease_ms integer: ms
-- ARGV[2..] leases string: entries of `active`
-- Returns {code, ...}, one a lease: 1 ok, -1 stale, -2 gone
local base = KEYS[1]
local lease_ms, leases = tonumber(ARGV[1]), { unpack(ARGV, 2) }
-- @include keys
-- @include now
-- @include names
-- @include entry
-- @include fence
-- @include ring
-- @include touched
-- @include lease
local nearest = tonumber(redis.call('ZRANGE', active_key, 0, 0, 'WITHSCORES')[2])
for i, lease in ipairs(leases) do
  if seen[lease] == 1 then
    redis.call('ZADD', active_key, 'XX', now_ms + lease_ms, lease)
    codes[i] = 1
  end
  if codes[i] == -2 then
    end_lease(lease)
    touch(group_of(lease), 0)
  end
end
local servable = settle_touched()
-- A lease cut short may end before all that a parked worker knew of.
if nearest and now_ms + lease_ms < nearest then servable = servable + 1 end
-- @include wake
return codes
