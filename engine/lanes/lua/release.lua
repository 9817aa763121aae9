#!lua flags=allow-oom
-- Gives jobs that were not run back to their places, with their attempts unburnt.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1..] leases string: entries of `active`
-- Returns {code, ...}, one a lease: 1 ok, -1 stale, -2 gone
local base = KEYS[1]
local leases = ARGV
-- @include keys
-- @include now
-- @include names
-- @include entry
-- @include fence
-- @include ring
-- @include touched
-- @include backlog
-- @include lane
-- @include lease
for i, lease in ipairs(leases) do
  if codes[i] == 1 then
    put_back(lease)
    touch(group_of(lease), 1)
  elseif codes[i] == -2 then
    end_lease(lease)
    touch(group_of(lease), 0)
  end
end
local servable = settle_touched()
-- @include wake
return codes
