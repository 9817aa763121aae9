#!lua flags=allow-oom
-- Ends the leases of finished jobs and forgets the jobs; a cool-down holds their groups and never shortens a hold.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] cooldown_ms integer: ms, 0 = none
-- ARGV[2..] leases string: entries of `active`
-- Returns {code, ...}, one a lease: 1 ok, -1 stale, -2 gone
local base = KEYS[1]
local cooldown_ms, leases = tonumber(ARGV[1]), { unpack(ARGV, 2) }
-- @include keys
-- @include now
-- @include ended
local servable = freed
if cooldown_ms > 0 and groups[1] then
  -- @include names
  -- @include ring
  -- @include hold
  for _, group in ipairs(groups) do servable = servable + hold(group, now_ms + cooldown_ms, 'GT') end
end
-- @include wake
return codes
