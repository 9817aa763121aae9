#!lua flags=allow-oom
-- Leases up to `count` jobs of the one group at the head of the ring; it stays off the ring until its last lease ends.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] count integer: jobs
-- ARGV[2] lease_ms integer: ms
-- ARGV[3] max_attempts integer: attempts after which a lapsed job is buried, 0 = never
-- Returns {1, until_ms, token, id, record, id, record, ...}: the first job has `token`, each next one a token larger by one
local base = KEYS[1]
local count, lease_ms, max_attempts = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
-- @include keys
-- @include now
-- @include wake
-- @include housekeeping
-- @include heads
-- @include pick
-- @include grant

-- A visit in progress is forfeited: its group is the one that is taken.
visit = false
while granted == 0 and ghosts_left > 0 do
  local group = redis.call('LINDEX', ring_key, 0)
  if not group then break end
  load_heads({ group })
  local room, more = math.min(count, limits[group] - actives[group]), true
  while more and granted < room and ghosts_left > 0 do
    local id, record
    id, record, more = pick(group)
    if record then grant(id, record, group) end
  end
  if granted > 0 or room <= 0 or not more then
    redis.call('LPOP', ring_key)
    redis.call('HDEL', served_key, group)
    if granted > 0 then redis.call('SADD', taken_key, group) end
  end
end
write_grants()
wake_for_rest()
return reply
