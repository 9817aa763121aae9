"""Settlement: exactly once, by the photo finish, at the deadline or at the crack."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from engine.game.model import CloseReason, Round, RoundState
from engine.game.notices import RoundRevealed
from engine.game.settling import Later, Settling
from engine.ids import GUESS, JOB, RoundId
from engine.lanes import State
from engine.store.errors import DatabaseBusy, RowRefused
from engine.workers.settler import SettleWorker
from tests.waiting import wait_until
from tests.workers.making import House, wrong


async def reveals(product: House) -> list[RoundRevealed]:
    return [notice for notice in await product.unsent() if isinstance(notice, RoundRevealed)]


async def settle_jobs(product: House) -> int:
    jobs = await product.queues.settlements.claim(16)
    await SettleWorker(product.queues.settlements, Settling(product.world)).handle(jobs)
    return len(jobs)


async def test_a_crack_is_settled_and_revealed_once(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(round_.secret)
    await product.score()
    assert await settle_jobs(product) == 1
    _, settled = await product.current()
    assert settled.state is RoundState.SETTLED
    assert settled.winner is not None
    (reveal,) = await reveals(product)
    assert (reveal.winner, reveal.reason, reveal.secret, reveal.nonce) == (
        settled.winner,
        CloseReason.CRACKED,
        round_.secret,
        round_.nonce,
    )


async def test_two_racing_closers_settle_a_round_once(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(round_.secret)
    await product.score()
    settling = Settling(product.world)
    outcomes = await asyncio.gather(*(settling.settle(round_.id) for _ in range(8)))
    assert sum(isinstance(outcome, Round) for outcome in outcomes) == 1
    assert len(await reveals(product)) == 1
    room, settled = await product.current()
    async with product.units.read() as work:
        membership = await work.guesses.membership(room.id, settled.winner) if settled.winner else None
    assert membership is not None
    assert membership.wins == 1


async def test_settlement_waits_for_every_guess_before_the_crack(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(round_.secret, "Ana")
    await product.guess(round_.secret, "Ben")
    first, second = await product.queues.guesses.claim(2)
    await product.scorer().handle([second])
    settling = Settling(product.world)
    assert isinstance(await settling.settle(round_.id), Later)
    await product.scorer().handle([first])
    assert isinstance(await settling.settle(round_.id), Round)
    _, settled = await product.current()
    async with product.units.read() as work:
        assert settled.winner == (await work.guesses.standings(round_.id))[0].player
        assert (await work.guesses.standings(round_.id))[0].best_seq == first.seq


async def test_settlement_does_not_wait_for_guesses_behind_the_crack(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(round_.secret, "Ana")
    for _ in range(5):
        await product.guess(wrong(round_), "Ben")
    await product.score(1)
    assert isinstance(await Settling(product.world).settle(round_.id), Round)
    assert await product.queues.guesses.depth((await product.current())[0].id) == 5


async def test_a_round_whose_time_is_up_is_closed_and_revealed_without_a_winner(product: House) -> None:
    _, round_ = await product.open(minutes=1)
    await product.guess(wrong(round_))
    settling = Settling(product.world)
    outcome = await settling.settle(round_.id)
    assert isinstance(outcome, Later)
    assert 0 < outcome.delay_ms <= 60_000
    product.clock.ahead_ms = 60_001
    assert isinstance(await settling.settle(round_.id), Later), "the guess accepted in time is still to be scored"
    await product.score()
    assert isinstance(await settling.settle(round_.id), Round)
    (reveal,) = await reveals(product)
    assert (reveal.winner, reveal.reason) == (None, CloseReason.EXPIRED)
    assert [line.best_total for line in reveal.lines] == [400]


async def test_a_paused_round_does_not_expire_and_goes_on_with_the_time_it_had(product: House) -> None:
    _, round_ = await product.open(minutes=1)
    await product.game.levers.pause(product.request())
    product.clock.ahead_ms = 600_000
    settling = Settling(product.world)
    assert await settling.settle(round_.id) is None
    await product.game.levers.resume(product.request())
    outcome = await settling.settle(round_.id)
    assert isinstance(outcome, Later)
    assert 50_000 < outcome.delay_ms <= 60_000


async def test_an_ended_round_is_settled_with_what_was_accepted(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(wrong(round_))
    await product.game.rounds.end(product.request())
    await product.score()
    await wait_until(lambda: settle_jobs(product), "the settlement's job")
    (reveal,) = await reveals(product)
    assert reveal.reason is CloseReason.ENDED


async def test_ending_a_paused_round_scores_what_the_pause_kept(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(wrong(round_))
    await product.game.levers.pause(product.request())
    assert await product.score() == 0
    await product.game.rounds.end(product.request())
    assert await product.score() == 1
    assert isinstance(await Settling(product.world).settle(round_.id), Round)


async def test_a_settlement_that_speaks_of_no_round_is_dropped(product: House) -> None:
    room, _ = await product.open()
    await product.queues.settlements.enqueue(room.id, product.world.mint(GUESS), b"\xffnonsense")
    await product.queues.settlements.enqueue(room.id, product.world.mint(JOB), b"GAM0KHTOWnGLuC")
    assert await settle_jobs(product) == 2
    assert await product.queues.settlements.claim(10) == []


async def test_a_settled_round_makes_room_for_the_next(product: House) -> None:
    _, first = await product.open()
    await product.guess(first.secret)
    await product.score()
    await settle_jobs(product)
    _, second = await product.open()
    assert (second.number, second.state) == (2, RoundState.OPEN)
    assert second.secret != first.secret


@dataclass(frozen=True, slots=True)
class _Stubborn(Settling):
    """Settles every round but one."""

    stuck: RoundId
    error: Exception

    async def settle(self, round_id: RoundId) -> Later | Round | None:
        if round_id == self.stuck:
            raise self.error
        return await Settling.settle(self, round_id)


async def test_a_round_that_cannot_be_settled_delays_itself_alone(product: House) -> None:
    chats = (-100, -200, -300)
    for chat in chats:
        await product.open(chat=chat)
        await product.game.rounds.end(product.request(chat=chat))
    room, stuck = await product.current()
    lanes = product.queues.settlements
    worker = SettleWorker(lanes, _Stubborn(product.world, stuck.id, RowRefused("a_check", "a database")))
    await worker.handle(await lanes.claim(16))
    for chat in chats[1:]:
        assert (await product.current(chat))[1].state is RoundState.SETTLED
    tried = [it for it in await lanes.browse(room.id, 10, State.scheduled) if it.attempts]
    assert [(it.attempts, it.error) for it in tried] == [(1, "RowRefused")]


@pytest.mark.parametrize(("attempts", "delay_ms"), [(1, 500), (4, 4_000), (8, 60_000), (20, 60_000)])
async def test_a_failed_settlement_waits_longer_each_time_but_never_over_a_minute(
    product: House, attempts: int, delay_ms: int
) -> None:
    _, stuck = await product.open()
    await product.game.rounds.end(product.request())
    lanes = product.queues.settlements
    for _ in range(attempts - 1):
        await lanes.retry((await lanes.claim(1))[0], "not yet", 0)
    jobs = await lanes.claim(1)
    worker = SettleWorker(lanes, _Stubborn(product.world, stuck.id, LookupError("a bug")))
    seconds, microseconds = await product.redis.time()
    await worker.handle(jobs)
    record = await lanes.job(jobs[0].id)
    assert record is not None
    assert record.state is State.scheduled
    assert 0 <= record.at_ms - (seconds * 1_000 + microseconds // 1_000) - delay_ms < 2_000


async def test_a_database_that_is_away_is_no_rounds_fault(product: House) -> None:
    _, round_ = await product.open()
    await product.game.rounds.end(product.request())
    jobs = await product.queues.settlements.claim(16)
    away = DatabaseBusy("a database", "a lock", "try again")
    with pytest.raises(DatabaseBusy):
        await SettleWorker(product.queues.settlements, _Stubborn(product.world, round_.id, away)).handle(jobs)
    record = await product.queues.settlements.job(jobs[0].id)
    assert record is not None
    assert record.state is State.leased
