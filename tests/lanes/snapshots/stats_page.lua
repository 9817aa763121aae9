#!lua flags=no-writes
-- Goes through one page of the groups that have a backlog, and names the deepest of them.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] cursor string: where the last page ended, 0 at first
-- ARGV[2] top integer: groups
-- Returns {1, cursor, groups, depth, group, depth, group, ...}: how many there are and how deep they are in all, then
--   the deepest, deepest first; `cursor` is 0 at the end
local base = KEYS[1]
local cursor, top = ARGV[1], tonumber(ARGV[2])
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
local page = redis.call('HSCAN', gdepth_key, cursor, 'COUNT', 1000)
local groups, sum = {}, 0
for i = 1, #page[2], 2 do
  local depth = tonumber(page[2][i + 1])
  sum = sum + depth
  groups[#groups + 1] = { page[2][i], depth }
end
table.sort(groups, function(one, other)
  if one[2] ~= other[2] then return one[2] > other[2] end
  return one[1] < other[1]
end)
local reply = { 1, page[1], #groups, sum }
for i = 1, math.min(top, #groups) do
  reply[#reply + 1] = groups[i][1]
  reply[#reply + 1] = groups[i][2]
end
return reply
