-- How fast jobs are served, for an ETA. Two looks are remembered in one field, when and at how many (`look`); the pace
-- is taken since the older one, so it covers the last seconds, and more of them where little happens. Wants `now_ms`.

-- Jobs a ms, or nil if none was served since.
local function pace_since(key, field, served)
  local seen = redis.call('HGET', key, field)
  local older_ms, older = string.match(seen or '', '^(%S+) (%S+)')
  older_ms, older = tonumber(older_ms), tonumber(older)
  if older_ms and served > older and now_ms > older_ms then return (served - older) / (now_ms - older_ms) end
  return nil
end
