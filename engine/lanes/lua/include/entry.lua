-- How entries and records are laid out; `job.py` reads and writes the same bytes.
-- entry:  job id 14, group 14, lane 14, seq 16 digits, then token 16 digits and attempts (a lease), or `s` (scheduled),
--         or `d` (dead)
-- record: group 14, lane 14, seq 16 digits, enqueued_ms 6 bytes, attempts 2 bytes, payload; after a failure the highest
--         bit of attempts is set, and the error and its length (2 bytes) follow the payload
local sub = string.sub

local function id_of(entry) return sub(entry, 1, 14) end

local function group_of(entry) return sub(entry, 15, 28) end

local function lane_of(entry) return sub(entry, 29, 42) end

local function seq_of(entry) return sub(entry, 43, 58) end

-- The entry without what only its kind has: what survives a change of kind.
local function core_of(entry) return sub(entry, 1, 58) end

-- The job's record, or nil if it is missing or belongs to another admission of the same id.
-- MGET, because it answers nil for a key of a foreign type where GET would end the script half way.
local function record_of(entry)
  local record = redis.call('MGET', job_key(id_of(entry)))[1]
  if record and sub(record, 1, 44) == sub(entry, 15, 58) then return record end
  return nil
end
