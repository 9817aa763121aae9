#!lua
-- Admits jobs, each all or nothing; refuses the id of a job that still lives and a dedup key that is remembered.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1..] admissions, six a job:
--   ticket string: job id, group, lane; payload bytes; delay_ms integer: ms, 0 = at once
--   dedup bytes: a dedup key or empty; dedup_ms integer: ms it is remembered; weight integer: 0 = not stamped
-- Returns {code, ...}, one a job: 1 enqueued, 2 scheduled, -1 duplicate
-- Not allowed out of memory: a full server refuses the call before its first change.
local base = KEYS[1]
local admissions = ARGV
-- @include keys
-- @include now
local sub, format = string.sub, string.format
local seq = math.max(tonumber(redis.call('HGET', state_key, 'clock')) or 0, now_us - 1)
local stamp = struct.pack('>I6I2', now_ms, 0)
local codes, groups, added, ready, opened, stamps = {}, {}, {}, {}, nil, {}
local nearest, failure

for i = 1, #admissions, 6 do
  local ticket, payload, delay_ms, dedup, dedup_ms, weight = unpack(admissions, i, i + 5)
  local id, place, group, lane = sub(ticket, 1, 14), sub(ticket, 15), sub(ticket, 15, 28), sub(ticket, 29, 42)
  local code, key = -1, of_group .. group .. ':' .. lane .. pending
  if lane == group then key = of_group .. group .. pending end
  local waiting = redis.pcall('ZCARD', key)
  if type(waiting) == 'table' then
    failure = waiting
    break
  end
  local seq_text = format('%016.0f', seq + 1)
  if (dedup == '' or redis.call('EXISTS', of_dedup .. dedup) == 0)
    and redis.call('SET', of_job .. id, place .. seq_text .. stamp .. payload, 'NX') then
    local counted, refusal = 1, nil
    if delay_ms ~= '0' then
      code = 2
      local entry = id .. place .. seq_text .. 's'
      refusal = redis.pcall('ZADD', schedule_key, now_ms + delay_ms, entry)
      if type(refusal) ~= 'table' then redis.pcall('ZADD', of_group .. group .. out, seq_text, entry) end
    else
      code = 1
      if waiting == 0 then
        refusal = redis.pcall('RPUSH', of_group .. group .. inner, lane)
        if refusal == 1 then
          opened = opened or {}
          opened[#opened + 1] = group
        end
      end
      -- Where a ghost of the same id stands in the lane, the job takes over its place in the count.
      if type(refusal) ~= 'table' then counted = redis.call('ZADD', key, seq_text, id) end
    end
    if type(refusal) == 'table' then
      redis.call('DEL', of_job .. id)
      failure = refusal
      break
    end
    seq = seq + 1
    if not added[group] then groups[#groups + 1], added[group], ready[group] = group, 0, 0 end
    added[group] = added[group] + counted
    if code == 1 then
      ready[group] = ready[group] + 1
    else
      nearest = math.min(nearest or math.huge, tonumber(delay_ms))
    end
    if dedup ~= '' then redis.call('SET', of_dedup .. dedup, id, 'PX', dedup_ms) end
    if weight ~= '0' then stamps[group] = weight end
  end
  codes[#codes + 1] = code
end

-- The jobs are in; now what counts them, then the ring, so that an error from here on is one that `audit` mends.
if groups[1] then redis.call('HSET', state_key, 'clock', format('%.0f', seq)) end
for _, group in ipairs(groups) do redis.call('HINCRBY', gdepth_key, group, added[group]) end
for group, weight in pairs(stamps) do redis.call('HSET', gstamp_key, group, weight) end
local servable = 0
if opened then
  -- @include names
  -- @include ring
  for _, group in ipairs(opened) do refresh(group) end
end
for _, group in ipairs(groups) do
  if ready[group] > 0 and redis.call('HEXISTS', served_key, group) == 1 then servable = servable + ready[group] end
end
if nearest and tonumber(redis.call('ZRANGE', schedule_key, 0, 0, 'WITHSCORES')[2]) == now_ms + nearest then
  servable = servable + 1
end
-- @include wake
if failure then return failure end
return codes
