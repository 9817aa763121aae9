-- Looks at what visits drew, for all of them together: leases what has a record, and takes lanes that are empty now from
-- their inner rings. Gives `leases`, `indexed`, and where a lane was emptied, in `empty` (by group) whether a group has
-- none left. Nothing here can fail half way.
local leases, indexed, empty = {}, {}, nil
if drawn > 0 then
  local records, short = call('MGET', unpack(names)), false
  for i = 1, drawn do
    local record, place, name = records[i], places[i], names[i]
    -- A place that the record does not own is a ghost: skipped, uncounted; the next of its lane takes its turn.
    if not record or find(record, place, 1, true) ~= 1 then
      -- @include ghost
    end
    if record then
      local high, low = byte(record, 51, 52)
      local id = sub(name, #of_job + 1)
      -- `..` would print the token as 1.79e+15.
      local lease = place .. id .. format('%016.0f', token) .. (low + high == 0 and '1'
        or math.min(high % 128 * 256 + low + 1, 32767))
      leases[#leases + 1] = until_text
      leases[#leases + 1] = lease
      indexed[#indexed + 1] = '0'
      indexed[#indexed + 1] = lease
      reply[2 * granted + 4], reply[2 * granted + 5] = id, record
      granted, token = granted + 1, token + 1
    end
  end
  if last_keys[1] and call('EXISTS', unpack(last_keys)) > 0 then
    -- @include unspent
  end
  if short or next(dry) or turned_keys[1] and call('EXISTS', unpack(turned_keys)) < #turned_keys then
    -- @include emptied
  end
end
