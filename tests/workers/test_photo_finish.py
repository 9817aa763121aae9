"""A round is settled once, by the smallest seq, whoever dies over it and however much waits."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest
from redis.asyncio import Redis

from engine.game.model import Account, RoundState, Source
from engine.game.notices import RoundRevealed
from engine.game.ports import GuessJob
from engine.ids import JOB
from engine.lanes import Admission, Submission
from engine.workers.crew import CrewSettings
from engine.workers.payload import encode
from tests.waiting import wait_until
from tests.workers.closing import INSTANTS
from tests.workers.making import House, Recorder, wrong
from tests.workers.working import at_work

FLOOD = 20_000


def reveals(messenger: Recorder) -> list[RoundRevealed]:
    return [notice for notice in messenger.notices if isinstance(notice, RoundRevealed)]


@pytest.mark.parametrize("instant", INSTANTS)
async def test_a_round_whose_closer_is_killed_half_way_is_settled_once_by_the_next(
    product: House, redis: Redis, redis_url: str, ready_database_url: str, instant: str
) -> None:
    del redis
    room, round_ = await product.open()
    await product.guess(round_.secret)
    assert await product.score() == 1
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.workers.closing", instant, redis_url, ready_database_url, round_.id),
        cwd=Path(__file__).parents[2],
    )
    assert await process.wait() == -signal.SIGKILL
    assert ((await product.current())[1].state is RoundState.SETTLED) is (instant == "after")
    messenger = Recorder()
    async with at_work(product, messenger):
        await wait_until(lambda: reveals(messenger), "the round is revealed")
        await wait_until(lambda: nobody_settles(product), "its job is done")
    _, settled = await product.current()
    assert settled.winner is not None
    assert len(reveals(messenger)) == 1
    async with product.units.read() as work:
        membership = await work.guesses.membership(room.id, settled.winner)
    assert membership is not None
    assert membership.wins == 1


async def nobody_settles(product: House) -> bool:
    settlements = product.queues.settlements
    room, round_ = await product.current()
    crack = await settlements.job(JOB + round_.id[3:])
    return crack is None and await settlements.depth(room.id) <= 1  # the deadline's job waits for its time


async def test_the_smaller_seq_wins_however_deep_it_waits_in_its_lane(product: House) -> None:
    """Ana's winner came first, behind a flood of her own; Ben's comes off his lane with the very first claim."""
    room, round_ = await product.open()
    async with product.units.begin() as work:
        ana, ben = [await work.rooms.player(Account(number, name)) for number, name in ((1, "Ana"), (2, "Ben"))]
        await work.commit()

    def guess(number: int, lane: str, codes: tuple[str, ...]) -> Submission:
        payload = encode(GuessJob(round_.id, codes, Source(-100, 10_000 + number), 0))
        return Submission(room.id, product.world.mint(JOB), payload, lane=lane)

    load = [guess(number, ana.id, wrong(round_)) for number in range(FLOOD)]
    load += [guess(FLOOD, ana.id, round_.secret), guess(FLOOD + 1, ben.id, round_.secret)]
    assert set(await product.queues.guesses.enqueue_many(load)) == {Admission.enqueued}
    await product.game.operators.set(room.id, {"ceiling": 1_000})
    messenger = Recorder()
    async with at_work(product, messenger, CrewSettings(sweep_ms=50, say_batch=1_000)):
        await wait_until(lambda: is_closing(product), "somebody cracked it", timeout_ms=30_000)
        assert await product.queues.guesses.depth(room.id) > FLOOD // 4, "Ben's is scored first"
        await wait_until(lambda: is_settled(product), "the round is settled", timeout_ms=80_000, poll_ms=50)
    _, settled = await product.current()
    assert settled.winner == ana.id
    async with product.units.read() as work:
        standings = await work.guesses.standings(round_.id)
    assert (standings[0].player, standings[0].guesses) == (ana.id, FLOOD + 1)
    assert len(reveals(messenger)) <= 1


async def is_closing(product: House) -> bool:
    return (await product.current())[1].state is not RoundState.OPEN


async def is_settled(product: House) -> bool:
    return (await product.current())[1].state is RoundState.SETTLED
