-- Every name that a queue's data has in Redis; `keys.py` spells the same ones for single commands and for tests.
-- Wants `base`, the prefix of the queue.
local ring_key, served_key, state_key, wake_key = base .. 'ring', base .. 'served', base .. 'state', base .. 'wake'
local active_key, schedule_key, dead_key = base .. 'active', base .. 'schedule', base .. 'dead'
local glimit_key, gactive_key, gdepth_key = base .. 'glimit', base .. 'gactive', base .. 'gdepth'
local gweight_key, gstamp_key = base .. 'gweight', base .. 'gstamp'
local paused_key, held_key, taken_key = base .. 'paused', base .. 'held', base .. 'taken'

local function inner_key(group) return base .. 'g:' .. group .. ':ring' end

local function out_key(group) return base .. 'g:' .. group .. ':out' end

local function lane_key(group, lane)
  if lane == group then return base .. 'g:' .. group .. ':pending' end
  return base .. 'g:' .. group .. ':' .. lane .. ':pending'
end

local function job_key(id) return base .. 'j:' .. id end

local function dedup_key(dedup) return base .. 'd:' .. dedup end
