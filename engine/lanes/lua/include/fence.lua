-- I4: asks which of `leases` still live, before anything is written: only the newest token of a job has an entry.
-- Gives `codes`: 1 ok, -1 stale, -2 the job is gone. A lease named twice is stale the second time; `seen` knows the
-- first answer.
local codes, names, seen = {}, {}, {}
local deadlines = redis.call('ZMSCORE', active_key, unpack(leases))
for i, lease in ipairs(leases) do names[i] = job_key(id_of(lease)) end
local records = redis.call('MGET', unpack(names))
for i, lease in ipairs(leases) do
  codes[i] = -1
  if deadlines[i] and not seen[lease] then
    codes[i] = records[i] and sub(records[i], 1, 44) == sub(lease, 1, 44) and 1 or -2
    seen[lease] = codes[i]
  end
end
