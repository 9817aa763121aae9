-- Ends the leases in `leases` whose jobs are done and forgets the jobs. Gives `codes`, one a lease, the `groups` they
-- were of, and in `freed` how many jobs can be claimed for it. Wants `cooldown_ms`: a group that cools down joins nothing.
local codes, groups, freed = {}, {}, 0
if leases[1] then
  local call, sub, find = redis.call, string.sub, string.find
  -- I4: ask which leases still live before anything is written; only the newest token of a job has an entry.
  local deadlines, names = call('ZMSCORE', active_key, unpack(leases)), {}
  for i = 1, #leases do names[i] = of_job .. sub(leases[i], 45, 58) end
  local records = call('MGET', unpack(names))
  local ended, done, ended_of, seen = {}, {}, {}, {}
  for i = 1, #leases do
    local lease, record = leases[i], records[i]
    if not deadlines[i] or seen[lease] then
      codes[i] = -1
    else
      seen[lease], ended[#ended + 1] = true, lease
      if record and find(record, sub(lease, 1, 44), 1, true) == 1 then
        codes[i], done[#done + 1] = 1, names[i]
      else
        codes[i] = -2
      end
      local group = sub(lease, 1, 14)
      local its = ended_of[group]
      if not its then groups[#groups + 1] = group end
      ended_of[group] = (its or 0) + 1
    end
  end
  if ended[1] then
    -- @include slots
  end
end
