#!lua flags=allow-oom
-- Goes through one page of the leases, the scheduled or the dead jobs: each has its job, and its place in the index.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] repair integer: 1 = mend, 0 = only look
-- ARGV[2] kind integer: 2 scheduled, 3 leased, 4 dead
-- ARGV[3] cursor string: where the last page ended, 0 at first
-- Returns {1, cursor, {what, where, found, expected}...}: `cursor` is 0 at the end
local base = KEYS[1]
local repair, kind, cursor = ARGV[1] == '1', tonumber(ARGV[2]), ARGV[3]
-- @include keys
-- @include names
-- @include entry
-- @include drift
local key = ({ nil, schedule_key, active_key, dead_key })[kind]
local page = redis.call('ZSCAN', key, cursor, 'COUNT', 200)
for i = 1, #page[2], 2 do
  local entry = page[2][i]
  local indexed = redis.pcall('ZSCORE', out_key, entry)
  if not record_of(entry) then
    drift('ghost', entry, 'no job', 'a job')
    if repair then
      redis.call('ZREM', key, entry)
      redis.pcall('ZREM', out_key, entry)
    end
  elseif type(indexed) == 'table' or tonumber(indexed) ~= 0 then
    drift('index', entry, type(indexed) == 'string' and indexed or 'nothing', 0)
    if repair then redis.call('ZADD', out_key, 0, entry) end
  end
end
return { 1, page[1], unpack(drifts) }
