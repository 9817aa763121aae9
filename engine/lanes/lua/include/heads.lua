-- What a claim must know of the groups in `ring`: a handful of commands, however many they are. A group is known by its
-- slot, the place it had in `ring` when that was read; `active_now` and `depth_now` are what visits make of it.
local limits, actives = call('HMGET', glimit_key, unpack(ring)), call('HMGET', gactive_key, unpack(ring))
local weights, depths = call('HMGET', gweight_key, unpack(ring)), call('HMGET', gdepth_key, unpack(ring))
local stamps, active_now, depth_now = nil, {}, {}
-- What visits take from lanes, in order: the job's place as its record has it, its record's key, its lane's, its slot.
local places, names, lane_keys, taken_at, drawn = {}, {}, {}, {}, 0
-- Lanes to be looked at afterwards: those that turned, and, with their inner rings, those that gave the last job there
-- is of their group by its count; `spent` has the lanes of the latter by slot. `dry` ones had nothing when their turn came.
local turned_keys, last_keys, spent, dry = {}, {}, {}, {}
