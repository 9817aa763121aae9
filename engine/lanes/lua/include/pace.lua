-- How fast jobs are served, for an ETA. Wants `now_ms`.

-- Jobs a ms, of what had `served` by now, or nil. Two looks are remembered in one field, when and at how many; the pace
-- is taken since the older one, so it covers the last seconds, and more of them where little happens.
local function pace_since(key, field, served)
  local seen = redis.call('HGET', key, field)
  local older_ms, older, newer_ms, newer = now_ms, served, now_ms, served
  if seen then
    older_ms, older, newer_ms, newer = string.match(seen, '^(%S+) (%S+) (%S+) (%S+)$')
    older_ms, older, newer_ms, newer = tonumber(older_ms), tonumber(older), tonumber(newer_ms), tonumber(newer)
  end
  local age_ms = now_ms - newer_ms
  if not seen or age_ms >= 2000 and served - newer >= 32 or age_ms >= 30000 then
    redis.call('HSET', key, field, string.format('%.0f %.0f %.0f %.0f', newer_ms, newer, now_ms, served))
  end
  if served > older and now_ms > older_ms then return (served - older) / (now_ms - older_ms) end
  return nil
end

-- What the group's `admitted` and `depth` tell of how many were served; either counts from where its cap was set.
local function pace_of(group, admitted, depth) return pace_since(gflow_key, 'p' .. group, admitted - depth) end
