#!lua flags=allow-oom
-- Goes through one page of the server's keys: names the queue's groups, lanes and jobs, and finds keys of other types.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] repair integer: 1 = delete keys of other types, 0 = only look
-- ARGV[2] cursor string: where the last page ended, 0 at first
-- Returns {1, cursor, {place...}, {job...}, {what, where, found, expected}...}: a place is a group, or a group and one
--   of its lanes; `cursor` is 0 at the end
local base = KEYS[1]
local repair, cursor = ARGV[1] == '1', ARGV[2]
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
