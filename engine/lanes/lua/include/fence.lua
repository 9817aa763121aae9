-- I4: asks which of `leases` still live, before anything is written: only the newest token of a job has an entry.
-- Gives `codes` (1 ok, -1 stale, -2 the job is gone), and of those not stale `ended`, and by group `groups`, `ended_of`.
-- A lease named twice is stale the second time; `seen` knows the first answer.
local codes, ended, groups, ended_of, seen = {}, {}, {}, {}, {}
local deadlines, names = redis.call('ZMSCORE', active_key, unpack(leases)), {}
for i, lease in ipairs(leases) do names[i] = job_key(id_of(lease)) end
local records = redis.call('MGET', unpack(names))
for i, lease in ipairs(leases) do
  if not deadlines[i] or seen[lease] then
    codes[i] = -1
  else
    local group, record = group_of(lease), records[i]
    codes[i] = record and sub(record, 1, 44) == sub(lease, 15, 58) and 1 or -2
    seen[lease], ended[#ended + 1] = codes[i], lease
    if ended_of[group] then
      table.insert(ended_of[group], lease)
    else
      groups[#groups + 1], ended_of[group] = group, { lease }
    end
  end
end
