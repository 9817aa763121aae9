#!lua flags=allow-oom
-- Goes through one page of the server's keys: names the queue's groups, lanes and jobs, and finds keys of other types.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] repair integer: 1 = delete keys of other types, 0 = only look
-- ARGV[2] cursor string: where the last page ended, 0 at first
-- Returns {1, cursor, {place...}, {job...}, {what, where, found, expected}...}: a place is a group, or a group and one
--   of its lanes; `cursor` is 0 at the end
local base = KEYS[1]
local repair, cursor = ARGV[1] == '1', ARGV[2]
-- @include keys
-- @include drift
local page = redis.call('SCAN', cursor, 'MATCH', all, 'COUNT', 1000)
local places, jobs = {}, {}
local kinds = { [inner] = 'list', [pending] = 'zset' }
for _, key in ipairs(page[2]) do
  local kind, wanted = redis.call('TYPE', key).ok, nil
  if string.sub(key, 1, #of_group) == of_group then
    local group, lane, what = string.match(string.sub(key, #of_group + 1), '^(%w+):?(%w*)(:%l+)$')
    wanted = what and #group == 14 and (#lane == 14 or lane == '') and kinds[what] or nil
    if wanted == kind then places[#places + 1] = what == pending and group .. (lane == '' and group or lane) or group end
  elseif string.sub(key, 1, #of_job) == of_job then
    wanted = 'string'
    if wanted == kind then jobs[#jobs + 1] = string.sub(key, #of_job + 1) end
  else
    wanted = kind
  end
  if wanted ~= kind then
    drift('type', string.sub(key, #base + 1), kind, wanted or 'no key')
    if repair then redis.call('DEL', key) end
  end
end
return { 1, page[1], places, jobs, unpack(drifts) }
