-- Leaves a chat, or everybody, alone for a time; never for less than was asked before.
-- KEYS[1] hold string: expires when it is over
-- ARGV[1] ms integer: from now on the server's clock
-- Returns {1}
local hold, ms = KEYS[1], tonumber(ARGV[1])
if redis.call('PTTL', hold) < ms then redis.call('SET', hold, ms, 'PX', ms) end
return { 1 }
