#!lua flags=allow-oom
-- Leases up to `count` jobs in rota order across groups, after bounded housekeeping; no group ever passes its ceiling.
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

local want, left, turned_at = count, {}, {}
while want > 0 and ghosts_left > 0 do
  local wanted = math.min(want, 500)
  local ring = redis.call('LRANGE', ring_key, 0, wanted - 1)
  if not ring[1] then break end
  load_heads(ring)
  -- The ring turns in this table and is written back once. A group that stays goes to the end of the table if the
  -- whole ring is in it, else to `turned`, behind the groups that were not read.
  local loaded, head, last, turned = #ring, 1, #ring, {}
  local whole = loaded < wanted
  while want > 0 and head <= last and ghosts_left > 0 do
    local group = ring[head]
    if visit ~= group then visit, credit = group, weights[group] end
    local more, full = true, actives[group] >= limits[group]
    while more and not full and credit > 0 and want > 0 and ghosts_left > 0 do
      local id, record
      id, record, more = pick(group)
      if record then
        grant(id, record, group)
        want, credit, full = want - 1, credit - 1, actives[group] >= limits[group]
      end
    end
    if full or not more then
      left[#left + 1], turned_at[group] = group, nil
      head, visit = head + 1, false
    elseif credit == 0 then
      turned_at[group] = now_ms
      head, visit = head + 1, false
      if whole then
        last = last + 1
        ring[last] = group
      else
        turned[#turned + 1] = group
      end
    end
  end
  if whole and head > 1 then
    redis.call('DEL', ring_key)
    in_portions(redis.call, 'RPUSH', ring_key, { unpack(ring, head, last) })
  elseif head > 1 then
    redis.call('LPOP', ring_key, head - 1)
    in_portions(redis.call, 'RPUSH', ring_key, turned)
  end
end
write_grants()
local served = {}
for group, at in pairs(turned_at) do served[#served + 1], served[#served + 2] = group, at end
in_portions(redis.call, 'HSET', served_key, served)
in_portions(redis.call, 'HDEL', served_key, left)
wake_for_rest()
return reply
