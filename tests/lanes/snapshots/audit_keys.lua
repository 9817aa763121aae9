#!lua flags=allow-oom
-- Looks at the types of the keys that a queue has once, and whether the visit in progress is to the head of the ring.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] repair integer: 1 = delete what is not ours, 0 = only look
-- Returns {1, {what, where, found, expected}...}
local base = KEYS[1]
local repair = ARGV[1] == '1'
-- Every name that a queue's data has in Redis; `keys.py` spells the same ones for single commands and for tests.
-- Wants `base`, the prefix of the queue. The hot scripts put names together from the parts at the end, because a
-- function costs them more than the name; the others include `names`.
local ring_key, served_key, state_key, wake_key = base .. 'ring', base .. 'served', base .. 'state', base .. 'wake'
local active_key, schedule_key, dead_key, out_key = base .. 'active', base .. 'schedule', base .. 'dead', base .. 'out'
local glimit_key, gactive_key, gdepth_key = base .. 'glimit', base .. 'gactive', base .. 'gdepth'
local gweight_key, gstamp_key, gcap_key = base .. 'gweight', base .. 'gstamp', base .. 'gcap'
local gflow_key, ldelayed_key = base .. 'gflow', base .. 'ldelayed'
local paused_key, held_key, taken_key = base .. 'paused', base .. 'held', base .. 'taken'
local of_group, of_job, of_dedup = base .. 'g:', base .. 'j:', base .. 'd:'
local inner, pending = ':ring', ':pending'
local all = base .. '*'
-- What an audit finds: rows of what differs, where, what was found there, and what belongs there.
local drifts = {}

local function drift(what, where, found, expected)
  if type(found) == 'number' then found = string.format('%.0f', found) end
  if type(expected) == 'number' then expected = string.format('%.0f', expected) end
  drifts[#drifts + 1] = { what, where, found, expected }
end
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
