#!lua flags=allow-oom
-- Looks at the types of the keys that a queue has once, and whether the visit in progress is to the head of the ring.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] repair integer: 1 = delete what is not ours, 0 = only look
-- Returns {1, {what, where, found, expected}...}
local base = KEYS[1]
local repair = ARGV[1] == '1'
-- @include keys
-- @include drift
local kinds = {
  list = { ring_key, wake_key },
  zset = { active_key, schedule_key, dead_key, out_key, held_key },
  set = { paused_key, taken_key },
  hash = {
    served_key, state_key, glimit_key, gactive_key, gdepth_key, gweight_key, gstamp_key, gcap_key, gflow_key, ldelayed_key,
  },
}
for kind, keys in pairs(kinds) do
  for _, key in ipairs(keys) do
    local found = redis.call('TYPE', key).ok
    if found ~= kind and found ~= 'none' then
      drift('type', string.sub(key, #base + 1), found, kind)
      if repair then redis.call('DEL', key) end
    end
  end
end
local visit, head = redis.pcall('HGET', state_key, 'visit'), redis.pcall('LINDEX', ring_key, 0)
if type(visit) == 'string' and visit ~= head then
  drift('visit', visit, 'visited', 'not the head of the ring')
  if repair then redis.call('HDEL', state_key, 'visit', 'credit') end
end
return { 1, unpack(drifts) }
