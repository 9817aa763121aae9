#!lua flags=allow-oom
-- Leases up to `count` jobs in rota order across groups, after bounded housekeeping; no group ever passes its ceiling.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] count integer: jobs
-- ARGV[2] lease_ms integer: ms
-- ARGV[3] max_attempts integer: attempts after which a lapsed job is buried, 0 = never
-- Returns {1, until_ms, token, id, record, id, record, ...}: the first job has `token`, each next one the next integer
local base = KEYS[1]
local count, lease_ms, max_attempts = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
-- @include keys
-- @include now
local freed = 0
-- @include turns
return reply
