-- Ends a claim: the clock, the visit in progress, and who else should wake.
if granted > 0 then
  local before = tonumber(state[4]) or 0
  local after = before + granted
  call('HSET', state_key, 'clock', format('%.0f', token - 1), 'granted', format('%.0f', after))
  if before == 0 or after % 256 < granted then
    -- @include look
    look(state_key, 'pace', before == 0 and 0 or after)
  end
end
if visit then
  if visit ~= state[2] or credit ~= tonumber(state[3]) then
    call('HSET', state_key, 'visit', visit, 'credit', credit)
  end
elseif state[2] then
  call('HDEL', state_key, 'visit', 'credit')
end
-- Whoever leaves servable work behind wakes another; what housekeeping made servable wakes as many as it is.
local servable = 0
if open and call('EXISTS', ring_key) == 1 then
  servable = freed + fresh - granted
  if servable < 1 and call('EXISTS', wake_key) == 0 then servable = 1 end
end
-- A parked worker looks at what is due every 4 s at least; a lease that ends before that may be news to it.
if granted > 0 and lease_ms < 4000 and tonumber(call('ZRANGE', active_key, 0, 0, 'WITHSCORES')[2]) == until_ms then
  servable = math.max(servable, 0) + 1
end
-- @include wake
