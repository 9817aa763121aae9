#!lua flags=allow-oom
-- Leases up to `count` jobs of the one group at the head of the ring; it stays off the ring until its last lease ends.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] count integer: jobs
-- ARGV[2] lease_ms integer: ms
-- ARGV[3] max_attempts integer: attempts after which a lapsed job is buried, 0 = never
-- Returns {1, until_ms, token, id, record, id, record, ...}: the first job has `token`, each next one the next integer
local base = KEYS[1]
local count, lease_ms, max_attempts = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
-- @include keys
-- @include now
local freed = 0
-- @include housekeeping
-- @include grants

-- A visit in progress is forfeited: its group is the one that is taken.
if open then visit = false end
while open and granted < count and ghosts_left > 0 do
  local ring = call('LRANGE', ring_key, 0, 0)
  local group = ring[1]
  if not group then break end
  -- @include heads
  local want, slot = math.min(count - granted, 500), 1
  credit = want
  -- @include visit
  -- @include drawn
  -- @include written
  full = active_now[slot] >= limit
  if full or not more or spent[slot] or empty and empty[group] or granted == count or granted > 0 and ghosts_left <= 0 then
    call('LPOP', ring_key)
    call('HDEL', served_key, group)
    -- Without a grant the group had nothing but ghosts: the next one has its turn.
    if granted > 0 then
      call('SADD', taken_key, group)
      break
    end
  end
end
-- @include claimed
return reply
