-- Sweeps `lane`, or all lanes of the group if it is empty, until the budget is used up. A lane that keeps younger jobs is
-- turned away, so that a whole turn leaves the order as it was. Gives `waiting_over`.
local waiting_over = false
if lane ~= '' then
  sweep(lane)
  waiting_over = redis.call('ZCOUNT', lane_key(group, lane), '-inf', horizon) == 0
else
  local kept, lanes = 0, redis.call('LLEN', inner_key(group))
  while deleted < budget and kept < lanes do
    local head = redis.call('LRANGE', inner_key(group), 0, 0)[1]
    if redis.call('ZCOUNT', lane_key(group, head), '-inf', horizon) == 0 then
      kept = kept + 1
      redis.call('LMOVE', inner_key(group), inner_key(group), 'LEFT', 'RIGHT')
    else
      sweep(head)
      lanes = redis.call('LLEN', inner_key(group))
    end
  end
  waiting_over = kept >= lanes
end
