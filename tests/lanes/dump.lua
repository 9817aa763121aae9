-- Everything under a prefix at one instant, for the oracle.
-- ARGV: pattern; Returns {server us, {key, type, pttl, value}...}
local time = redis.call('TIME')
local out = {string.format('%d%06d', time[1], time[2])}
local keys = redis.call('KEYS', ARGV[1])
table.sort(keys)
for _, key in ipairs(keys) do
  local kind = redis.call('TYPE', key).ok
  local value
  if kind == 'string' then
    value = redis.call('GET', key)
  elseif kind == 'list' then
    value = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'set' then
    value = redis.call('SMEMBERS', key)
  elseif kind == 'zset' then
    value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'hash' then
    value = redis.call('HGETALL', key)
  end
  out[#out + 1] = {key, kind, redis.call('PTTL', key), value}
end
return out
