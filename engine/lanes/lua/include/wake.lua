-- Wakes up to `n` parked workers. The list never holds more than 64 tokens, and a token never carries a job.
local function wake(n)
  local room = 64 - redis.call('LLEN', wake_key)
  if n > room then n = room end
  if n == 1 then
    redis.call('RPUSH', wake_key, '1')
  elseif n > 1 then
    local tokens = {}
    for i = 1, n do tokens[i] = '1' end
    redis.call('RPUSH', wake_key, unpack(tokens))
  end
end
