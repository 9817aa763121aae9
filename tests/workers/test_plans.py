"""Plans and levers of rooms reach SQL first and then the lanes, at once; a full room refuses."""

from __future__ import annotations

from collections import Counter

import pytest
from redis.asyncio import Redis
from sqlalchemy import select

from engine.game.model import LeverSet, Source
from engine.game.notices import Refusal, Refused
from engine.game.ports import GuessJob, RoomFull
from engine.game.request import Receipt
from engine.game.world import TOLD_ALREADY
from engine.ids import JobId, PlayerId
from engine.store.tables import outbox
from tests.workers.levers import flood, lever, told
from tests.workers.making import CEILING, House, wrong


async def test_a_plan_given_to_a_room_is_in_force_at_once(product: House, redis: Redis) -> None:
    room, _ = await product.open()
    await product.game.operators.change_plan("gold", {"weight": 3, "ceiling": 20, "cap": 9, "lane_cap": 5})
    given = await product.game.operators.give(room.id, "gold")
    assert given.in_force(CEILING) == LeverSet(3, 20, 9, 5)
    assert await told(redis, product, room.id) == (b"3", b"20", b"9/5")
    await product.game.operators.give(room.id, None)
    assert await told(redis, product, room.id) == (b"1", b"8", None)


async def test_a_changed_plan_pulls_every_room_on_it_and_no_other(product: House, redis: Redis) -> None:
    rooms = [(await product.open(chat=-100 - number))[0] for number in range(20)]
    *on, other = rooms
    await product.game.operators.change_plan("gold", {"weight": 2})
    for room in on:
        await product.game.operators.give(room.id, "gold")
    plan, pulled = await product.game.operators.change_plan("gold", {"weight": 7, "cap": 100})
    assert plan.levers == LeverSet(weight=7, cap=100)
    assert pulled == sorted(room.id for room in on)
    for room in on:
        assert await told(redis, product, room.id) == (b"7", b"8", b"100")
    assert await told(redis, product, other.id) == (b"1", b"8", None)


async def test_a_change_of_one_lever_leaves_a_plan_s_others(product: House) -> None:
    await product.game.operators.change_plan("gold", {"weight": 2, "cap": 9})
    plan, _ = await product.game.operators.change_plan("gold", {"cap": None})
    assert plan.levers == LeverSet(weight=2)


async def test_a_dropped_plan_leaves_its_rooms_with_the_defaults(product: House, redis: Redis) -> None:
    room, _ = await product.open()
    await product.game.operators.change_plan("gold", {"weight": 2, "ceiling": 3, "cap": 9})
    await product.game.operators.give(room.id, "gold")
    assert await product.game.operators.drop_plan("gold") == [room.id]
    assert await told(redis, product, room.id) == (b"1", b"8", None)
    assert await product.game.operators.plans() == []


async def test_what_is_set_for_one_room_wins_over_its_plan_until_it_is_taken_back(product: House, redis: Redis) -> None:
    room, _ = await product.open()
    await product.game.operators.change_plan("gold", {"weight": 2, "ceiling": 3, "cap": 9})
    await product.game.operators.give(room.id, "gold")
    await product.game.operators.set(room.id, {"weight": 5})
    await product.game.operators.set(room.id, {"lane_cap": 4})
    assert await told(redis, product, room.id) == (b"5", b"3", b"9/4")
    await product.game.operators.change_plan("gold", {"weight": 8})
    assert await lever(redis, product, "gweight", room.id) == b"5"
    await product.game.operators.set(room.id, {"weight": None})
    assert await lever(redis, product, "gweight", room.id) == b"8"


async def test_a_chat_s_limit_stays_below_a_plan_s_ceiling_whatever_the_plan_becomes(
    product: House, redis: Redis
) -> None:
    room, _ = await product.open()
    await product.game.operators.change_plan("gold", {"ceiling": 20})
    await product.game.operators.give(room.id, "gold")
    assert await product.game.levers.limit(product.request(), 15) is Receipt.DURABLE
    assert await lever(redis, product, "glimit", room.id) == b"15"
    await product.game.operators.change_plan("gold", {"ceiling": 4})
    assert await lever(redis, product, "glimit", room.id) == b"4"
    assert await product.game.levers.limit(product.request(), 5) is Receipt.REFUSED
    await product.game.operators.change_plan("gold", {"ceiling": 30})
    assert await lever(redis, product, "glimit", room.id) == b"15"


async def test_rooms_are_served_by_the_weights_of_their_plans(product: House) -> None:
    heavy, _ = await product.open(chat=-1)
    light, _ = await product.open(chat=-2)
    for chat in (-1, -2):
        await flood(product, 12, chat=chat)
    await product.game.operators.change_plan("gold", {"weight": 3, "ceiling": 100})
    await product.game.operators.give(heavy.id, "gold")
    groups = [job.group for job in await product.queues.guesses.claim(8)]
    assert (groups.count(heavy.id), groups.count(light.id)) == (6, 2)


async def test_a_weight_is_stamped_at_admission_so_that_a_healed_redis_has_it_before_it_is_told(
    product: House, redis: Redis
) -> None:
    heavy, _ = await product.open(chat=-1)
    light, _ = await product.open(chat=-2)
    await product.game.operators.set(heavy.id, {"weight": 3})
    await redis.flushall()
    for chat in (-1, -2):
        await flood(product, 12, chat=chat)
    groups = [job.group for job in await product.queues.guesses.claim(8)]
    assert (groups.count(heavy.id), groups.count(light.id)) == (6, 2)


async def test_a_weight_that_is_taken_back_ends_at_once_for_guesses_stamped_with_it(product: House) -> None:
    room, _ = await product.open(chat=-1)
    other, _ = await product.open(chat=-2)
    await product.game.operators.set(room.id, {"weight": 3})
    for chat in (-1, -2):
        await flood(product, 6, chat=chat)
    await product.game.operators.set(room.id, {"weight": None})
    groups = [job.group for job in await product.queues.guesses.claim(4)]
    assert (groups.count(room.id), groups.count(other.id)) == (2, 2)


async def test_a_capped_room_refuses_kindly_and_says_when_to_come_again(product: House) -> None:
    room, round_ = await product.open()
    await product.game.operators.set(room.id, {"cap": 2})
    await flood(product, 2)
    assert await product.guess(wrong(round_), "Ben") is Receipt.REFUSED
    (refused,) = [notice for notice in await product.unsent() if isinstance(notice, Refused)]
    assert (refused.reason, refused.got, refused.wanted) == (Refusal.ROOM_FULL, 2, 2)
    assert refused.eta_ms is not None
    assert refused.eta_ms > 0
    await product.score()
    assert await product.guess(wrong(round_), "Ben") is Receipt.DURABLE


async def test_a_cap_on_players_keeps_one_of_them_from_filling_the_room(product: House) -> None:
    room, round_ = await product.open()
    await product.game.operators.set(room.id, {"lane_cap": 1})
    assert await product.guess(wrong(round_), "Ana") is Receipt.DURABLE
    assert await product.guess(wrong(round_), "Ana") is Receipt.REFUSED
    assert await product.guess(wrong(round_), "Ben") is Receipt.DURABLE


async def test_a_full_room_is_told_to_whoever_enqueues(product: House) -> None:
    room, round_ = await product.open()
    await product.game.operators.set(room.id, {"cap": 1})
    await flood(product, 1)
    job, player = JobId(product.world.mint("JOB")), PlayerId(product.world.mint("PLR"))
    with pytest.raises(RoomFull, match="its cap is 1"):
        await product.world.lanes.enqueue(room, player, job, GuessJob(round_.id, round_.keyboard[:6], Source(-1, 9), 1))


async def test_a_player_who_knows_when_to_come_again_is_not_told_twice_but_every_refusal_is_kept(
    product: House,
) -> None:
    room, round_ = await product.open()
    await product.game.operators.set(room.id, {"cap": 1})
    await flood(product, 1)
    for _ in range(3):
        assert await product.guess(wrong(round_), "Ben") is Receipt.REFUSED
    assert await product.guess(wrong(round_), "Ana") is Receipt.REFUSED
    assert len([notice for notice in await product.unsent() if isinstance(notice, Refused)]) == 2
    kept = select(outbox.c.drop_reason).where(outbox.c.kind == "refused")
    async with product.units._database.reading() as connection:
        reasons = Counter((await connection.execute(kept)).scalars())
    assert reasons == {None: 2, TOLD_ALREADY: 2}
