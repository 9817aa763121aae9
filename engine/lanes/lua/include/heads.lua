-- What a claim must know of the groups in `ring`: five commands, however many they are. A group is known by its slot,
-- the place it had in `ring` when that was read; `active_now` and `depth_now` are what visits make of it.
local limits, actives = call('HMGET', glimit_key, unpack(ring)), call('HMGET', gactive_key, unpack(ring))
local weights, stamps = call('HMGET', gweight_key, unpack(ring)), call('HMGET', gstamp_key, unpack(ring))
local depths, active_now, depth_now = call('HMGET', gdepth_key, unpack(ring)), {}, {}
