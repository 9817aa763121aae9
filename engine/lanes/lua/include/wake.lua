-- Wakes up to `n` parked workers. The list never holds more than 64 tokens, and a token never carries a job.
local function wake(n)
  if n < 1 then return end
  local tokens = { '1' }
  for i = 2, math.min(n, 64) do tokens[i] = '1' end
  redis.call('RPUSH', wake_key, unpack(tokens))
  redis.call('LTRIM', wake_key, 0, 63)
end
