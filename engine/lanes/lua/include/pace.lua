-- How fast jobs are served, for an ETA. Wants `now_ms`. Two looks are remembered in one field, when and at how many; the
-- pace is taken since the older one, so it covers the last seconds, and more of them where little happens.

local function looks(key, field)
  local seen = redis.call('HGET', key, field)
  if not seen then return nil end
  local older_ms, older, newer_ms, newer = string.match(seen, '^(%S+) (%S+) (%S+) (%S+)$')
  return tonumber(older_ms), tonumber(older), tonumber(newer_ms), tonumber(newer)
end

-- Remembers that by now `served` were, if that is news.
local function look(key, field, served)
  local older_ms, older, newer_ms, newer = looks(key, field)
  if not older_ms then newer_ms, newer = now_ms, served end
  local age_ms = now_ms - newer_ms
  if not older_ms or age_ms >= 2000 and served - newer >= 32 or age_ms >= 30000 then
    redis.call('HSET', key, field, string.format('%.0f %.0f %.0f %.0f', newer_ms, newer, now_ms, served))
  end
end

-- Jobs a ms, or nil if none was served since.
local function pace_since(key, field, served)
  local older_ms, older = looks(key, field)
  if older_ms and served > older and now_ms > older_ms then return (served - older) / (now_ms - older_ms) end
  return nil
end
