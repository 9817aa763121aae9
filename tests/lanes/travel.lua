-- Lets time pass in one queue: whatever is to come of it comes that much sooner. Order and gaps stay as they are.
-- ARGV: prefix of the queue's keys, ms
local base, ms = ARGV[1], tonumber(ARGV[2])
for _, name in ipairs({ 'active', 'schedule', 'held', 'dead' }) do
  local entries = redis.call('ZRANGE', base .. name, 0, -1, 'WITHSCORES')
  for i = 1, #entries, 2 do
    redis.call('ZADD', base .. name, string.format('%.0f', entries[i + 1] - ms), entries[i])
  end
end
local served = redis.call('HGETALL', base .. 'served')
for i = 1, #served, 2 do
  redis.call('HSET', base .. 'served', served[i], string.format('%.0f', served[i + 1] - ms))
end
for _, key in ipairs(redis.call('KEYS', string.gsub(base, '[{}]', '?') .. 'd:*')) do
  local left = redis.call('PTTL', key) - ms
  if left > 0 then redis.call('PEXPIRE', key, string.format('%.0f', left)) else redis.call('DEL', key) end
end
