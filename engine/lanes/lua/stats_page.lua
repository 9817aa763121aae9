#!lua flags=no-writes
-- Goes through one page of the groups that have a backlog, and names the deepest of them.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] cursor string: where the last page ended, 0 at first
-- ARGV[2] top integer: groups
-- Returns {1, cursor, groups, depth, group, depth, group, ...}: how many there are and how deep they are in all, then
--   the deepest, deepest first; `cursor` is 0 at the end
local base = KEYS[1]
local cursor, top = ARGV[1], tonumber(ARGV[2])
-- @include keys
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
