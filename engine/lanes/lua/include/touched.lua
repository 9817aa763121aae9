-- The groups a call has changed, each once and in order, with the number of jobs they got back into their lanes.
local touched, jobs_of = {}, {}

local function touch(group, jobs)
  if not jobs_of[group] then
    jobs_of[group] = 0
    touched[#touched + 1] = group
  end
  jobs_of[group] = jobs_of[group] + jobs
end

-- Brings every touched group on or off the ring, and answers how many jobs that made servable.
local function settle_touched()
  local servable = 0
  for _, group in ipairs(touched) do
    local was_on = redis.call('HEXISTS', served_key, group) == 1
    if was_on then
      if refresh(group) then servable = servable + jobs_of[group] end
    else
      servable = servable + reopen(group)
    end
  end
  return servable
end
