-- What a claim hands out. Wants `lease_ms`. Numbers that go to many commands are text from here on: a script pays for
-- each that is turned into text, and for each string that it makes.
local sub, format, byte, find, tonumber = string.sub, string.format, string.byte, string.find, tonumber
local call, pcall_ = redis.call, redis.pcall
local state = call('HMGET', state_key, 'clock', 'visit', 'credit', 'granted', 'paused')
local visit, credit, open = state[2], tonumber(state[3]), not state[5]
local until_ms, token = now_ms + lease_ms, math.max((tonumber(state[1]) or 0) + 1, now_us)
local until_text, now_text = format('%.0f', until_ms), format('%.0f', now_ms)
-- Ghosts and empty lanes are gone once met; so many may be met in one call.
local ghosts_left = 1000
local granted, reply = 0, { 1, until_ms, token }
