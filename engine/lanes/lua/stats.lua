#!lua flags=no-writes
-- Counts a queue at one instant, in a bounded number of commands.
-- KEYS[1] base string: prefix of the queue's keys
-- Returns {1, now_ms, scheduled, leased, dead, groups, servable, paused, held, all_paused, granted, starvation_ms,
--   lapsed}
local base = KEYS[1]
-- @include keys
-- @include now
local head = redis.call('LRANGE', ring_key, 0, 0)[1]
local since = head and tonumber(redis.call('HGET', served_key, head)) or now_ms
return {
  1, now_ms,
  redis.call('ZCARD', schedule_key), redis.call('ZCARD', active_key), redis.call('ZCARD', dead_key),
  redis.call('HLEN', gdepth_key), redis.call('LLEN', ring_key), redis.call('SCARD', paused_key),
  redis.call('ZCOUNT', held_key, '(' .. now_ms, '+inf'), redis.call('HEXISTS', state_key, 'paused'),
  tonumber(redis.call('HGET', state_key, 'granted')) or 0, math.max(0, now_ms - since),
  tonumber(redis.call('HGET', state_key, 'lapsed')) or 0,
}
