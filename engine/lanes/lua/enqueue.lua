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
-- @include wake
-- @include ring
local sub = string.sub
local clock = tonumber(redis.call('HGET', state_key, 'clock')) or 0
local seq = math.max(clock, now_us - 1)
local stamp = struct.pack('>I6I2I2', now_ms, 0, 0)
local codes, groups, added, ready, opened, stamps = {}, {}, {}, {}, {}, {}
local nearest, failure

-- Puts the admitted job where it belongs; answers an error instead of raising it, so that it can be undone.
local function place(group, lane, id, seq_text, delay_ms, lane_empty)
  if delay_ms > 0 then
    local entry = id .. group .. lane .. seq_text .. 's'
    local reply = redis.pcall('ZADD', schedule_key, now_ms + delay_ms, entry)
    if type(reply) == 'table' then return reply end
    redis.pcall('ZADD', out_key(group), seq_text, entry)
    return 1
  end
  if lane_empty then
    local length = redis.pcall('RPUSH', inner_key(group), lane)
    if type(length) == 'table' then return length end
    if length == 1 then opened[group] = true end
  end
  return redis.call('ZADD', lane_key(group, lane), seq_text, id)
end

for i = 1, #admissions, 6 do
  local ticket, payload, delay_ms, dedup, dedup_ms, weight = unpack(admissions, i, i + 5)
  local id, group, lane = sub(ticket, 1, 14), sub(ticket, 15, 28), sub(ticket, 29, 42)
  local code, waiting = -1, redis.pcall('ZCARD', lane_key(group, lane))
  if type(waiting) == 'table' then
    failure = waiting
    break
  end
  local seq_text = string.format('%016.0f', seq + 1)
  if (dedup == '' or redis.call('EXISTS', dedup_key(dedup)) == 0)
    and redis.call('SET', job_key(id), sub(ticket, 15) .. seq_text .. stamp .. payload, 'NX') then
    delay_ms = tonumber(delay_ms)
    local counted = place(group, lane, id, seq_text, delay_ms, waiting == 0)
    if type(counted) == 'table' then
      redis.call('DEL', job_key(id))
      failure = counted
      break
    end
    seq, code = seq + 1, delay_ms > 0 and 2 or 1
    if not added[group] then groups[#groups + 1], added[group], ready[group] = group, 0, 0 end
    added[group] = added[group] + counted
    if code == 1 then ready[group] = ready[group] + 1 else nearest = math.min(nearest or delay_ms, delay_ms) end
    if dedup ~= '' then redis.call('SET', dedup_key(dedup), id, 'PX', dedup_ms) end
    if weight ~= '0' then stamps[#stamps + 1], stamps[#stamps + 2] = group, weight end
  end
  codes[#codes + 1] = code
end

-- The jobs are in; now what counts them, then the ring, so that an error from here on is one that `audit` mends.
if groups[1] then redis.call('HSET', state_key, 'clock', string.format('%.0f', seq)) end
for _, group in ipairs(groups) do redis.call('HINCRBY', gdepth_key, group, added[group]) end
if stamps[1] then redis.call('HSET', gstamp_key, unpack(stamps)) end
local servable = 0
for _, group in ipairs(groups) do
  local on
  if opened[group] then
    on = refresh(group)
  else
    on = ready[group] > 0 and redis.call('HEXISTS', served_key, group) == 1
  end
  if on then servable = servable + ready[group] end
end
if nearest and tonumber(redis.call('ZRANGE', schedule_key, 0, 0, 'WITHSCORES')[2]) == now_ms + nearest then
  servable = servable + 1
end
wake(servable)
if failure then return failure end
return codes
