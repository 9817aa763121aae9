-- The index of what is leased, scheduled and dead has all entries in the order of their bytes: by group, then by seq.

-- Up to `n` entries of the group behind those of the seq `after` (`-`: from the first on), up to those of the seq
-- `horizon` (empty: to the last).
local function indexed(group, after, horizon, n)
  local first, last = '(' .. group .. after .. '~', '(' .. group .. '~'
  if horizon ~= '' then last = '(' .. group .. string.format('%016.0f', tonumber(horizon)) .. '~' end
  return redis.call('ZRANGEBYLEX', out_key, first, last, 'LIMIT', 0, n)
end
