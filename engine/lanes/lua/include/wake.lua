-- Wakes as many parked workers as there are `servable` jobs. The list never holds more than 64 tokens, and a token
-- never carries a job.
if servable > 0 then
  local tokens = { '1' }
  for i = 2, math.min(servable, 64) do tokens[i] = '1' end
  redis.call('RPUSH', wake_key, unpack(tokens))
  redis.call('LTRIM', wake_key, 0, 63)
end
