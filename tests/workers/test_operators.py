"""What operators do reaches SQL first and then the lanes, at once, and is told again to a Redis that forgot it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from redis.asyncio import Redis

from engine.game import errors
from engine.game.model import LeverSet, Room, Round, RoundState, Source
from engine.game.notices import LeverPulled, Refusal, Refused
from engine.game.operators import Operators
from engine.game.ports import GuessJob, RoomFull
from engine.game.request import Receipt
from engine.game.settling import Later, Settling
from engine.game.tending import Moved
from engine.ids import JobId, PlayerId, RoomId
from engine.lanes import Verdict
from engine.workers.adapters import RoomLanes
from engine.workers.sweep import Sweep
from tests.waiting import wait_until
from tests.workers.making import CEILING, House, wrong

NOBODY = RoomId("ROM0KHTOWnGLuC")


async def lever(redis: Redis, product: House, hash_: str, room: str) -> bytes | None:
    """What the lanes have of a room's lever."""
    value = await redis.hget(f"emq:{{{product.queues.guesses.queue}}}:{hash_}", room)
    assert value is None or isinstance(value, bytes)
    return value


async def told(redis: Redis, product: House, room: str) -> tuple[bytes | None, ...]:
    return tuple([await lever(redis, product, hash_, room) for hash_ in ("gweight", "glimit", "gcap")])


async def flood(product: House, count: int, *, chat: int = -100) -> None:
    _, round_ = await product.current(chat)
    for number in range(count):
        assert await product.guess(wrong(round_), f"P{number % 4}", chat=chat) is Receipt.DURABLE


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


@dataclass(frozen=True)
class Late(RoomLanes):
    """Lanes whose pulls arrive late: each waits for the gate."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def pull(self, rooms: Sequence[Room]) -> None:
        self.asked.set()
        await self.gate.wait()
        await RoomLanes.pull(self, rooms)


async def test_a_pull_that_arrives_late_does_not_undo_a_later_change(product: House, redis: Redis) -> None:
    room, _ = await product.open()
    late = Late(product.queues.guesses, redis, CEILING, product.clock)
    slow = asyncio.create_task(Operators(replace(product.world, lanes=late)).set(room.id, {"weight": 2}))
    await late.asked.wait()
    await product.game.operators.set(room.id, {"weight": 5})
    late.gate.set()
    await slow
    assert await lever(redis, product, "gweight", room.id) == b"5"


async def test_levers_pulled_at_the_same_moment_end_as_the_rows_do(product: House, redis: Redis) -> None:
    room, _ = await product.open()
    operators = product.game.operators
    await operators.change_plan("gold", {"weight": 2})
    await asyncio.gather(
        *(operators.set(room.id, {"weight": number}) for number in range(1, 9)),
        *(operators.set(room.id, {"cap": number}) for number in range(1, 9)),
        operators.give(room.id, "gold"),
        operators.pause(room.id),
        *(operators.change_plan("gold", {"ceiling": number}) for number in range(1, 9)),
        product.game.levers.limit(product.request(), 3),
    )
    stands: Room = (await product.current())[0]
    force = stands.in_force(CEILING)
    assert await told(redis, product, room.id) == (
        str(force.weight).encode(),
        str(force.ceiling).encode(),
        f"{force.cap}".encode(),
    )
    assert stands.paused


async def test_a_redis_that_lost_its_data_is_told_every_lever_again_while_workers_run(
    product: House, redis: Redis
) -> None:
    room, _ = await product.open()
    await product.game.operators.change_plan("gold", {"weight": 3, "ceiling": 20, "cap": 9})
    await product.game.operators.give(room.id, "gold")
    await product.game.operators.hold(room.id, 3_600_000)
    sweep = Sweep(product.world, every_ms=1)
    await sweep.once(grace_ms=1)
    await redis.flushall()
    await sweep.once(grace_ms=1)
    assert await told(redis, product, room.id) == (b"3", b"20", b"9")
    await flood(product, 1)
    assert await product.queues.guesses.claim(1) == []


async def test_a_sweep_that_finds_the_levers_told_leaves_them_alone(product: House, redis: Redis) -> None:
    room, _ = await product.open()
    sweep = Sweep(product.world, every_ms=1)
    await sweep.once(grace_ms=1)
    await product.queues.guesses.limit(room.id, 77)
    await sweep.once(grace_ms=1)
    assert await lever(redis, product, "glimit", room.id) == b"77"


async def test_a_chat_s_command_that_comes_again_is_told_to_the_lanes_again(product: House, redis: Redis) -> None:
    """Whoever took it first may have ended between the commit and the lanes."""
    room, _ = await product.open()
    request = product.request()
    await product.game.levers.limit(request, 2)
    await product.queues.guesses.limit(room.id, None)
    assert await product.game.levers.limit(request, 2) is Receipt.DURABLE
    assert await lever(redis, product, "glimit", room.id) == b"2"
