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
