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
-- @include keys
-- @include now
-- @include admission
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
  -- @include admitted
end
if capped then
  -- @include flow
end
if refused then
  -- @include pace
  -- @include eta
  for i = 1, #refused do
    local code, group, of_lane = unpack(refused[i])
    local jobs = depths[group]
    if of_lane then jobs = math.min(jobs, code[2] * math.max(1, redis.call('LLEN', of_group .. group .. inner))) end
    code[4] = eta_ms(group, depths[group], jobs)
  end
end
if known[2] then servable = 0 end
-- @include wake
return codes
