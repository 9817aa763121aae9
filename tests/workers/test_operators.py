"""What operators do with single rooms: pause, hold, drain, forget, reassign; and what they are refused."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from engine.game import errors
from engine.game.model import LeverSet, Round, RoundState
from engine.game.notices import LeverPulled
from engine.game.request import Receipt
from engine.game.settling import Later, Settling
from engine.game.tending import Moved
from engine.ids import JobId, PlayerId, RoomId
from engine.lanes import Verdict
from tests.waiting import wait_until
from tests.workers.levers import flood, told
from tests.workers.making import House, wrong

NOBODY = RoomId("ROM0KHTOWnGLuC")


async def test_an_operator_s_pause_is_the_chat_s_own(product: House) -> None:
    room, _ = await product.open()
    await flood(product, 1)
    assert (await product.game.operators.pause(room.id)).paused
    assert (await product.current())[1].deadline_ms is None
    assert await product.queues.guesses.claim(1) == []
    assert (await product.game.operators.pause(room.id)).paused
    assert not (await product.game.operators.resume(room.id)).paused
    assert (await product.current())[1].deadline_ms is not None
    assert len(await product.queues.guesses.claim(1)) == 1
    pulled = [notice for notice in await product.unsent() if isinstance(notice, LeverPulled)]
    assert [(notice.lever, notice.waiting) for notice in pulled] == [("pause", 1), ("resume", 1)]
    assert await product.game.operators.resume(room.id) == (await product.current())[0]


async def test_a_room_whose_round_is_closing_cannot_be_paused(product: House) -> None:
    room, round_ = await product.open()
    await product.guess(round_.secret)
    await product.score()
    with pytest.raises(errors.RoundCloses, match="closing"):
        await product.game.operators.pause(room.id)
    assert not (await product.current())[0].paused


async def test_a_hold_keeps_a_room_until_its_time_and_no_longer(product: House) -> None:
    room, _ = await product.open()
    await flood(product, 1)
    held = await product.game.operators.hold(room.id, 3_600_000)
    assert held.held_until_ms is not None
    assert held.held_until_ms > product.clock() + 3_500_000
    assert await product.queues.guesses.claim(1) == []
    await product.game.operators.hold(room.id, 50)
    jobs = await wait_until(lambda: product.queues.guesses.claim(1), "the hold ended by itself")
    await product.queues.guesses.release(jobs)
    await product.game.operators.hold(room.id, 3_600_000)
    await product.game.operators.hold(room.id, None)
    assert len(await product.queues.guesses.claim(1)) == 1


async def test_other_levers_leave_a_hold_at_its_end(product: House) -> None:
    room, _ = await product.open()
    await flood(product, 1)
    held = await product.game.operators.hold(room.id, 3_600_000)
    after = await product.game.operators.set(room.id, {"weight": 2})
    assert after.held_until_ms == held.held_until_ms
    assert await product.queues.guesses.claim(1) == []


async def test_drained_guesses_count_as_done(product: House) -> None:
    room, round_ = await product.open()
    await flood(product, 3)
    await product.game.rounds.end(product.request())
    settling = Settling(product.world)
    assert isinstance(await settling.settle(round_.id), Later)
    assert await product.game.operators.drain(room.id) == 3
    assert isinstance(await settling.settle(round_.id), Round)


async def test_one_player_s_guesses_can_be_drained_alone(product: House) -> None:
    room, round_ = await product.open()
    for name in ("Ana", "Ana", "Ben"):
        await product.guess(wrong(round_), name)
    (first,) = await product.queues.guesses.claim(1)
    await product.queues.guesses.release([first])
    assert await product.game.operators.drain(room.id, PlayerId(first.lane)) == 2
    assert await product.queues.guesses.depth(room.id) == 1


async def test_a_forgotten_room_has_no_guess_and_no_lever_left_and_plays_on(product: House, redis: Redis) -> None:
    room, round_ = await product.open()
    await product.game.operators.change_plan("gold", {"weight": 2, "cap": 9})
    await product.game.operators.give(room.id, "gold")
    await product.game.operators.set(room.id, {"ceiling": 3})
    await product.game.levers.limit(product.request(), 2)
    await flood(product, 4)
    leased = await product.queues.guesses.claim(2)
    await product.game.operators.hold(room.id, 3_600_000)
    await product.game.operators.pause(room.id)
    assert await product.game.operators.forget(room.id) == 4
    assert await product.queues.guesses.complete(leased) == [Verdict.stale, Verdict.stale]
    after, running = await product.current()
    assert (after.plan, after.own, after.chat_limit, after.held_until_ms) == (None, LeverSet(), None, None)
    assert not after.paused
    assert running.state is RoundState.OPEN
    assert running.deadline_ms is not None
    assert await told(redis, product, room.id) == (b"1", b"8", None)
    assert await product.guess(wrong(round_)) is Receipt.DURABLE
    assert await product.score() == 1


async def test_a_forgotten_room_without_a_round_leaves_nothing_in_redis(product: House, redis: Redis) -> None:
    room, _ = await product.open()
    await product.game.rounds.end(product.request())
    settled = await Settling(product.world).settle((await product.current())[1].id)
    assert settled is not None
    await product.game.operators.set(room.id, {"weight": 2})
    await product.game.operators.forget(room.id)
    assert await told(redis, product, room.id) == (None, None, None)


async def test_a_guess_can_become_another_player_s_but_not_another_room_s(product: House) -> None:
    room, round_ = await product.open(chat=-1)
    elsewhere, _ = await product.open(chat=-2)
    await product.guess(wrong(round_), "Ana", chat=-1)
    (leased,) = await product.queues.guesses.claim(1)
    await product.queues.guesses.release([leased])
    job = JobId(leased.id)
    async with product.units.begin() as work:
        ben = await work.rooms.player(product.request("Ben").account)  # type: ignore[arg-type] # a person's request
        await work.commit()
    operators = product.game.operators
    with pytest.raises(errors.GuessElsewhere, match=room.id):
        await operators.reassign(job, elsewhere.id, ben.id)
    with pytest.raises(errors.UnknownPlayer):
        await operators.reassign(job, room.id, PlayerId("PLR0KHTOWnGLuC"))
    with pytest.raises(errors.UnknownGuess):
        await operators.reassign(JobId("JOB0KHTOWnGLuC"), room.id, ben.id)
    assert await operators.reassign(job, room.id, ben.id) is Moved.REASSIGNED
    assert await operators.reassign(job, room.id, ben.id) is Moved.NOOP
    await product.score()
    assert [answer.player for answer in await product.answers()] == [ben.id]


async def test_operators_are_told_what_is_not_there(product: House) -> None:
    operators = product.game.operators
    room, _ = await product.open()
    for asked in (
        operators.give(NOBODY, None),
        operators.set(NOBODY, {"weight": 2}),
        operators.hold(NOBODY, 5),
        operators.pause(NOBODY),
        operators.resume(NOBODY),
        operators.drain(NOBODY),
        operators.forget(NOBODY),
        operators.room(NOBODY),
        operators.reassign(JobId("JOB0KHTOWnGLuC"), NOBODY, PlayerId("PLR0KHTOWnGLuC")),
    ):
        with pytest.raises(errors.UnknownRoom, match=NOBODY):
            await asked
    for unknown in (operators.give(room.id, "gold"), operators.drop_plan("gold"), operators.rooms_on("gold")):
        with pytest.raises(errors.UnknownPlan, match="gold"):
            await unknown


@pytest.mark.parametrize("name", ["", "Gold", "1st", "a b", "gold\n", "é", "x" * 33, "-a", "a_b"])
async def test_a_plan_needs_a_plain_name(product: House, name: str) -> None:
    with pytest.raises(errors.BadPlanName, match="a-z"):
        await product.game.operators.change_plan(name, {})


@pytest.mark.parametrize("value", [0, -1, 1_000_000_001, 1 << 70])
@pytest.mark.parametrize("name", ["weight", "ceiling", "cap", "lane_cap"])
async def test_a_number_that_no_lever_has_is_refused_before_anything_is_written(
    product: House, name: str, value: int
) -> None:
    room, _ = await product.open()
    with pytest.raises(errors.BadLever, match=name):
        await product.game.operators.change_plan("gold", {name: value})
    with pytest.raises(errors.BadLever, match=name):
        await product.game.operators.set(room.id, {name: value})
    with pytest.raises(errors.BadLever, match="hold"):
        await product.game.operators.hold(room.id, value if value < 1 else 1 << 70)
    assert (await product.current())[0] == room
    assert await product.game.operators.plans() == []
