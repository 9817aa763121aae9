-- What a claim hands out. Wants `lease_ms`.
local sub, format, byte = string.sub, string.format, string.byte
local state = redis.call('HMGET', state_key, 'clock', 'visit', 'credit', 'granted', 'paused')
local visit, credit, open = state[2], tonumber(state[3]), not state[5]
local until_ms, token = now_ms + lease_ms, math.max((tonumber(state[1]) or 0) + 1, now_us)
-- Ghosts and empty lanes are gone once met; so many may be met in one call.
local ghosts_left = 1000
local granted, reply = 0, { 1, until_ms, token }
