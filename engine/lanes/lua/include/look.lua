-- Remembers that by now `served` were, if that is news.
local function look(key, field, served)
  local seen = redis.call('HGET', key, field)
  local older_ms, older, newer_ms, newer = string.match(seen or '', '^(%S+) (%S+) (%S+) (%S+)$')
  if not older_ms then newer_ms, newer = now_ms, served end
  local age_ms = now_ms - newer_ms
  if not older_ms or age_ms >= 2000 and served - newer >= 32 or age_ms >= 30000 then
    redis.call('HSET', key, field, string.format('%.0f %.0f %.0f %.0f', newer_ms, newer, now_ms, served))
  end
end
