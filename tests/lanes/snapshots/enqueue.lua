#!lua
-- Admits jobs, each all or nothing; refuses the id of a job that still lives, a dedup key that is remembered, and what
-- a cap has no room for.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1..] admissions, three a job:
--   ticket string: job id, group, lane; payload bytes; options bytes: empty, or by a space each
--   delay_ms integer: ms, 0 = at once; weight integer: 0 = not stamped; dedup_ms integer: ms; dedup bytes: may be empty
-- Returns {code, ...}, one a job: 1 enqueued, 2 scheduled, -1 duplicate, {-2, depth, cap, eta_ms} full, or the error
--   that kept this one out
-- Not allowed out of memory: a full server refuses the call before its first change.
local base = KEYS[1]
local admissions = ARGV
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
-- The one clock: every lease, delay, age and order is counted on the server's.
local clock_reading = redis.call('TIME')
local now_us = tonumber(clock_reading[1]) * 1000000 + tonumber(clock_reading[2])
local now_ms = math.floor(now_us / 1000)
-- What an admission must know before it looks at single jobs: a handful of commands, however many jobs there are.
local sub, format = string.sub, string.format
local known = redis.call('HMGET', state_key, 'clock', 'paused')
local seq = math.max(tonumber(known[1]) or 0, now_us - 1)
local stamp = struct.pack('>I6I2', now_ms, 0)
local names, groups, depths, capped = {}, {}, nil, false
-- By group, where it has a cap: how many jobs of it, and of each of its lanes.
local cap_of, lane_cap_of = {}, {}
do
  local met = {}
  for i = 1, #admissions, 3 do
    local ticket = admissions[i]
    local group = sub(ticket, 15, 28)
    names[#names + 1] = of_job .. sub(ticket, 1, 14)
    if not met[group] then groups[#groups + 1], met[group] = group, true end
  end
  local given, most_of, lane_most_of = redis.call('HMGET', gcap_key, unpack(groups)), {}, {}
  for i = 1, #groups do
    local caps, group = given[i], groups[i]
    if caps then
      -- Most groups have the same caps, and to read them takes longer than all else that is done for them.
      if not most_of[caps] then
        local most, lane_most = tonumber(caps), nil
        if not most then most, lane_most = string.match(caps, '^(%d*)/(%d*)$') end
        most_of[caps], lane_most_of[caps] = tonumber(most) or math.huge, tonumber(lane_most)
      end
      cap_of[group], lane_cap_of[group], capped = most_of[caps], lane_most_of[caps], true
    end
  end
  -- One group without a cap is counted by one command at the end; its depth need not be known.
  if capped or groups[2] then
    depths = {}
    local deep = redis.call('HMGET', gdepth_key, unpack(groups))
    for i = 1, #groups do depths[groups[i]] = tonumber(deep[i]) or 0 end
  end
end
local later_ones = capped and next(lane_cap_of) and redis.call('EXISTS', ldelayed_key) == 1
local living = redis.call('EXISTS', unpack(names)) > 0
local codes, records, stamps, added, ready, opened, taken = {}, {}, {}, {}, {}, {}, {}
local sizes, delayed, servable, nearest, refused = {}, {}, 0, nil, nil

for i = 1, #admissions, 3 do
  local ticket, payload, options = admissions[i], admissions[i + 1], admissions[i + 2]
  local delay_ms, weight, dedup_ms, dedup = '0', '0', nil, ''
  if options ~= '' then delay_ms, weight, dedup_ms, dedup = string.match(options, '^(%d+) (%d+) (%d+) (.*)$') end
  local id, place, group, lane = sub(ticket, 1, 14), sub(ticket, 15), sub(ticket, 15, 28), sub(ticket, 29, 42)
  local name, cap, key = names[(i + 2) / 3], cap_of[group], of_group .. group .. ':' .. lane .. pending
  if lane == group then key = of_group .. group .. pending end
  local size, code, counted = sizes[place] or redis.pcall('ZCARD', key), 1, 1
  if type(size) == 'table' then
    code = size
  elseif taken[name] or living and redis.call('EXISTS', name) == 1
    or dedup ~= '' and not redis.call('SET', of_dedup .. dedup, id, 'NX', 'PX', dedup_ms) then
    code = -1
  else
    if cap then
      local lane_cap = lane_cap_of[group]
      if lane_cap and later_ones and not delayed[place] then
        delayed[place] = tonumber(redis.call('HGET', ldelayed_key, place)) or 0
      end
      local deep = size + (delayed[place] or 0)
      if depths[group] >= cap then
        code = { -2, depths[group], cap }
      elseif lane_cap and deep >= lane_cap then
        code = { -2, deep, lane_cap }
      end
    end
    local seq_text = format('%016.0f', seq + 1)
    if code ~= 1 then
      refused = refused or {}
      refused[#refused + 1] = { code, group, depths[group] < cap }
    elseif delay_ms ~= '0' then
      local entry = group .. seq_text .. lane .. id .. 's'
      code = redis.pcall('ZADD', schedule_key, now_ms + delay_ms, entry)
      if code == 1 then
        redis.pcall('ZADD', out_key, 0, entry)
        redis.call('HINCRBY', ldelayed_key, place, 1)
        delayed[place] = (delayed[place] or 0) + 1
        code, nearest = 2, math.min(nearest or math.huge, tonumber(delay_ms))
      end
    else
      if size == 0 then
        code = redis.pcall('RPUSH', of_group .. group .. inner, lane)
        opened[#opened + 1] = group
      end
      if type(code) ~= 'table' then
        -- Where a ghost of the same id stands in the lane, the job takes over its place in the count.
        code, counted = 1, redis.call('ZADD', key, seq_text, id)
        sizes[place], ready[group] = size + counted, (ready[group] or 0) + 1
      end
    end
    if type(code) == 'number' then
      seq, taken[name], added[group] = seq + 1, true, (added[group] or 0) + counted
      if depths then depths[group] = depths[group] + counted end
      records[#records + 1] = name
      records[#records + 1] = group .. seq_text .. lane .. stamp .. payload
      if weight ~= '0' then
        stamps[#stamps + 1] = group
        stamps[#stamps + 1] = weight
      end
    elseif dedup ~= '' then
      redis.call('DEL', of_dedup .. dedup)
    end
  end
  codes[#codes + 1] = code
end

if records[1] then
-- Writes down what was admitted: the records, then what counts them, then the ring, so that an error from here on is
-- one that `audit` mends.
redis.call('MSET', unpack(records))
redis.call('HSET', state_key, 'clock', format('%.0f', seq))
local served, counts, joining, met = redis.call('HMGET', served_key, unpack(groups)), {}, {}, {}
for i = 1, #groups do
  local group = groups[i]
  local more = added[group]
  if more then
    if depths then
      counts[#counts + 1] = group
      counts[#counts + 1] = depths[group]
    else
      redis.call('HINCRBY', gdepth_key, group, more)
    end
    if ready[group] and served[i] then
      servable = servable + ready[group]
      ready[group] = nil
    end
  end
end
if counts[1] then redis.call('HSET', gdepth_key, unpack(counts)) end
if stamps[1] then redis.call('HSET', gstamp_key, unpack(stamps)) end
-- What is left of `ready` is off the ring; only a group that got a lane may join it, in the order of their first jobs.
for i = 1, #opened do
  local group = opened[i]
  if ready[group] and not met[group] then joining[#joining + 1], met[group] = group, true end
end
if joining[1] then
-- Puts on the ring, in one go, those groups of `joining` that nothing bars; each has a lane on its inner ring. Says in
-- `joined` which those were, and in `room_for` how many jobs of them can be claimed at once.
local joined, room_for = {}, {}
do
  local on, paused = redis.call('HMGET', served_key, unpack(joining)), redis.call('SMISMEMBER', paused_key, unpack(joining))
  local held, taken = redis.call('ZMSCORE', held_key, unpack(joining)), redis.call('SMISMEMBER', taken_key, unpack(joining))
  local limits, actives = redis.call('HMGET', glimit_key, unpack(joining)), redis.call('HMGET', gactive_key, unpack(joining))
  local depths, since, now_text = redis.call('HMGET', gdepth_key, unpack(joining)), {}, string.format('%.0f', now_ms)
  for i = 1, #joining do
    local group, limit = joining[i], tonumber(limits[i]) or math.huge
    local room = limit - (tonumber(actives[i]) or 0)
    if not on[i] and paused[i] == 0 and not held[i] and taken[i] == 0 and room > 0 then
      joined[#joined + 1], room_for[group] = group, math.min(room, tonumber(depths[i]) or 0)
      since[#since + 1] = group
      since[#since + 1] = now_text
    end
  end
  if joined[1] then
    redis.call('RPUSH', ring_key, unpack(joined))
    redis.call('HSET', served_key, unpack(since))
  end
end
  for i = 1, #joined do servable = servable + math.min(ready[joined[i]], room_for[joined[i]]) end
end
if nearest and tonumber(redis.call('ZRANGE', schedule_key, 0, 0, 'WITHSCORES')[2]) == now_ms + nearest then
  servable = servable + 1
end
end
if capped then
-- Counts what was admitted to groups that are at least half as deep as their smaller cap: only they may be refused soon,
-- and asked for their pace. Going over that half begins the count anew, as nothing was counted below it.
-- Remembers that by now `served` were, if that is news.
local function look(key, field, served)
  local seen = redis.call('HGET', key, field)
  local older_ms, older, newer_ms, newer = string.match(seen or '', '^(%S+) (%S+) (%S+) (%S+)$')
  if not older_ms then newer_ms, newer = now_ms, served end
  local age_ms = now_ms - newer_ms
  if not older_ms or age_ms >= 2000 and served - newer >= 32 or age_ms >= 30000 then
    redis.call('HSET', key, field, string.format('%.0f %.0f %.0f %.0f', newer_ms, newer, now_ms, served))
  end
end
for group, cap in pairs(cap_of) do
  local more, lane_cap = added[group], lane_cap_of[group]
  local half = (lane_cap and lane_cap < cap and lane_cap or cap) / 2
  if more and depths[group] >= half then
    local served, look_now = 0, depths[group] - more < half
    if look_now then
      redis.call('HDEL', gflow_key, group, 'p' .. group)
      served = -depths[group]
    else
      local admitted = redis.call('HINCRBY', gflow_key, group, more)
      served, look_now = admitted - depths[group], admitted % 64 < more
    end
    if look_now then look(gflow_key, 'p' .. group, served) end
  end
end
end
if refused then
-- How fast jobs are served, for an ETA. Two looks are remembered in one field, when and at how many (`look`); the pace
-- is taken since the older one, so it covers the last seconds, and more of them where little happens. Wants `now_ms`.

-- Jobs a ms, or nil if none was served since.
local function pace_since(key, field, served)
  local seen = redis.call('HGET', key, field)
  local older_ms, older = string.match(seen or '', '^(%S+) (%S+)')
  older_ms, older = tonumber(older_ms), tonumber(older)
  if older_ms and served > older and now_ms > older_ms then return (served - older) / (now_ms - older_ms) end
  return nil
end
-- How long it takes until `jobs` jobs of `group` are claimed: at the group's own pace, or, if it was not served yet, at
-- its share of the queue's, by weight. A queue that never served anything is taken to serve one job a second.
local function eta_ms(group, depth, jobs)
  local served = (tonumber(redis.call('HGET', gflow_key, group)) or 0) - depth
  local pace = pace_since(gflow_key, 'p' .. group, served)
  if not pace then
    local whole = pace_since(state_key, 'pace', tonumber(redis.call('HGET', state_key, 'granted')) or 0) or 0
    local ring = redis.call('LRANGE', ring_key, 0, 63)
    local others = redis.call('LLEN', ring_key) - redis.call('HEXISTS', served_key, group)
    ring[#ring + 1] = group
    local set, stamped = redis.call('HMGET', gweight_key, unpack(ring)), redis.call('HMGET', gstamp_key, unpack(ring))
    local sum, own = 0, 1
    for i = 1, #ring do
      own = tonumber(set[i]) or tonumber(stamped[i]) or 1
      if ring[i] ~= group then sum = sum + own end
    end
    local near = math.min(others, 64)
    pace = whole * own / (own + (near > 0 and sum / near * others or 0))
  end
  if pace <= 0 then pace = 0.001 end
  return math.min(math.ceil(jobs / pace), 31622400000)
end
  for i = 1, #refused do
    local code, group, of_lane = unpack(refused[i])
    local jobs = depths[group]
    if of_lane then jobs = math.min(jobs, code[2] * math.max(1, redis.call('LLEN', of_group .. group .. inner))) end
    code[4] = eta_ms(group, depths[group], jobs)
  end
end
if known[2] then servable = 0 end
-- Wakes as many parked workers as there are `servable` jobs. The list never holds more than 64 tokens, and a token
-- never carries a job.
if servable > 0 then
  local room = 64 - redis.call('LLEN', wake_key)
  if room > 0 then
    local tokens = {}
    for i = 1, math.min(servable, room) do tokens[i] = '1' end
    redis.call('RPUSH', wake_key, unpack(tokens))
  end
end
return codes
