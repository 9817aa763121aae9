-- Ends a claim: the clock, the visit in progress, and who else should wake.
if granted > 0 then redis.call('HSET', state_key, 'clock', format('%.0f', token - 1)) end
if visit then
  redis.call('HSET', state_key, 'visit', visit, 'credit', credit)
elseif state[2] then
  redis.call('HDEL', state_key, 'visit', 'credit')
end
-- Whoever leaves servable work behind wakes another; what housekeeping made servable wakes as many as it is.
local servable = 0
if redis.call('EXISTS', ring_key) == 1 then
  servable = fresh - granted
  if servable < 1 and redis.call('EXISTS', wake_key) == 0 then servable = 1 end
end
-- @include wake
return reply
