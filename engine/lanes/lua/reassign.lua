#!lua flags=allow-oom
-- Moves one waiting job to another group or lane, with its seq: it stands there where its age puts it.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] id string: a branded id
-- ARGV[2] group string: a branded id
-- ARGV[3] lane string: a branded id
-- Returns {code}: 1 reassigned, 2 noop, -1 not_found, -3 not_pending, -2 full
local base = KEYS[1]
local id, group, lane = ARGV[1], ARGV[2], ARGV[3]
-- @include keys
-- @include now
-- @include names
-- @include entry
-- @include ring
-- @include touched
-- @include backlog
-- @include lane
-- @include capped
local record = redis.call('MGET', job_key(id))[1]
if not record then return { -1 } end
local entry = sub(record, 1, 44) .. id
local old_group, old_lane, seq = group_of(entry), lane_of(entry), seq_of(entry)
if tonumber(redis.call('ZSCORE', lane_key(old_group, old_lane), id)) ~= tonumber(seq) then return { -3 } end
if old_group == group and old_lane == lane then return { 2 } end
if is_full(group, lane, old_group == group) then return { -2 } end

to_lane(group, lane, id, seq, old_group == group)
redis.call('SETRANGE', job_key(id), 0, group .. seq .. lane)
from_lane(old_group, old_lane, { id })
if old_group ~= group then
  let_in(group)
  unserved(old_group, 1)
  shrink(old_group, 1)
end
touch(old_group, 0)
touch(group, 1)
local servable = settle_touched()
-- @include wake
return { 1 }
