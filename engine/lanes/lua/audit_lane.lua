#!lua flags=allow-oom
-- Goes through one page of a lane: each id in it has its job.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] repair integer: 1 = take ghosts out, 0 = only look
-- ARGV[2] group string: a branded id
-- ARGV[3] lane string: a branded id
-- ARGV[4] cursor string: where the last page ended, 0 at first
-- Returns {1, cursor, {what, where, found, expected}...}: `cursor` is 0 at the end
local base = KEYS[1]
local repair, group, lane, cursor = ARGV[1] == '1', ARGV[2], ARGV[3], ARGV[4]
-- @include keys
-- @include names
-- @include entry
-- @include drift
local page = redis.call('ZSCAN', lane_key(group, lane), cursor, 'COUNT', 200)
for i = 1, #page[2], 2 do
  local entry = core_at(group, lane, page[2][i + 1], page[2][i])
  if not record_of(entry) then
    drift('ghost', entry, 'no job', 'a job')
    if repair then redis.call('ZREM', lane_key(group, lane), page[2][i]) end
  end
end
return { 1, page[1], unpack(drifts) }
