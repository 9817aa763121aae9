#!lua flags=allow-oom
-- Completes finished jobs and leases the next ones, as `complete` and then `claim` would.
-- KEYS[1] base string: prefix of the queue's keys
-- ARGV[1] count integer: jobs
-- ARGV[2] lease_ms integer: ms
-- ARGV[3] max_attempts integer: attempts after which a lapsed job is buried, 0 = never
-- ARGV[4..] leases string: entries of `active`
-- Returns {1, {code, ...}, {1, until_ms, token, id, record, ...}}: what `complete` and what `claim` return
local base = KEYS[1]
local count, lease_ms, max_attempts, leases = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), { unpack(ARGV, 4) }
local cooldown_ms = 0
-- @include keys
-- @include now
-- @include ended
-- @include turns
return { 1, codes, reply }
