-- Grants one call to Telegram, or says how long to wait for it.
-- KEYS[1] all_calls list: when the newest calls to anybody were granted, server ms, newest last
-- KEYS[2] all_hold string: for how many ms everybody is left alone; expires then
-- KEYS[3], KEYS[4] chat_calls, chat_hold: the same for the chat; left out for a call to none
-- ARGV[1] counted integer: 1 = it costs a call, 0 = only holds bind it
-- ARGV[2] most integer: calls to anybody in a window, 0 = no limit
-- ARGV[3] most_ms integer: that window
-- ARGV[4] gap_ms integer: between two calls to the chat, 0 = none
-- ARGV[5] chat_most integer: calls to the chat in a window, 0 = no limit
-- ARGV[6] chat_most_ms integer: that window
-- Returns {1} granted, {-1, wait_ms} for the chat's sake, {-2, wait_ms} for everybody's
local all_calls, all_hold, chat_calls, chat_hold = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local counted, most, most_ms = ARGV[1] == '1', tonumber(ARGV[2]), tonumber(ARGV[3])
local gap_ms, chat_most, chat_most_ms = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)

local function held_ms(key)
  local asked = tonumber(redis.call('GET', key) or 0)
  local left = asked > 0 and redis.call('PTTL', key) or 0
  -- A server clock that was put back must not hold for longer than was asked.
  if left > asked then redis.call('PEXPIRE', key, asked) end
  return math.min(left, asked)
end

local function spent_ms(key, calls, window_ms)
  local at = calls > 0 and window_ms > 0 and tonumber(redis.call('LINDEX', key, -calls))
  -- What was granted in the future was granted before the clock was put back.
  if not at or at > now_ms then return 0 end
  return at + window_ms - now_ms
end

local function spend(key, calls, window_ms)
  if calls == 0 or window_ms == 0 then return end
  redis.call('RPUSH', key, string.format('%.0f', now_ms))
  redis.call('LTRIM', key, -calls, -1)
  redis.call('PEXPIRE', key, window_ms)
end

local all_ms, chat_ms = held_ms(all_hold), 0
if chat_hold then chat_ms = held_ms(chat_hold) end
if counted then
  all_ms = math.max(all_ms, spent_ms(all_calls, most, most_ms))
  if chat_calls then
    chat_ms = math.max(chat_ms, spent_ms(chat_calls, 1, gap_ms), spent_ms(chat_calls, chat_most, chat_most_ms))
  end
end
if chat_ms > 0 then return { -1, math.max(chat_ms, all_ms) } end
if all_ms > 0 then return { -2, all_ms } end
if counted then
  spend(all_calls, most, most_ms)
  if chat_calls then spend(chat_calls, math.max(chat_most, 1), math.max(gap_ms, chat_most_ms)) end
end
return { 1 }
