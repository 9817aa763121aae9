-- What is told of a group's backlog: how deep it is, and what goes with it when it is gone.

-- Forgets what lives as long as the backlog: the stamped weight and the pace at which it was served.
local function forget_backlog(group)
  redis.call('HDEL', gdepth_key, group)
  redis.call('HDEL', gstamp_key, group)
  redis.call('HDEL', gflow_key, group, 'p' .. group)
end

-- Takes `jobs` from the group's depth.
local function shrink(group, jobs)
  if redis.call('HINCRBY', gdepth_key, group, -jobs) <= 0 then forget_backlog(group) end
end

-- Takes jobs that nobody served from what the group's pace is reckoned by. Wants to come before `shrink`.
local function unserved(group, jobs)
  if redis.call('HEXISTS', gflow_key, 'p' .. group) == 1 then redis.call('HINCRBY', gflow_key, group, -jobs) end
end

-- Counts a job into (or, with a negative number, out of) the scheduled ones of its lane.
local function delay(group, lane, jobs)
  if redis.call('HINCRBY', ldelayed_key, group .. lane, jobs) <= 0 then
    redis.call('HDEL', ldelayed_key, group .. lane)
  end
end
