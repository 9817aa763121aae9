"""The score worker: one transaction a batch, nothing twice, nobody hurt by another's poison."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence

import pytest
from redis.exceptions import ConnectionError as RedisAway

from engine.game.model import CloseReason, RoundState
from engine.game.request import Receipt
from engine.game.themes import theme
from engine.ids import JOB, NOTICE, rebrand
from engine.lanes import Job, Lanes, Verdict
from engine.workers.adapters import GUESSES
from engine.workers.payload import decode
from engine.workers.scorer import ScoreWorker
from tests.workers.making import House, wrong


async def standings(product: House) -> list[tuple[int, int]]:
    _, round_ = await product.current()
    async with product.units.read() as work:
        return [(line.best_total, line.guesses) for line in await work.guesses.standings(round_.id)]


async def test_a_batch_becomes_guesses_standings_and_answers(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(wrong(round_), "Ana")
    await product.guess(wrong(round_), "Ben")
    assert await product.score() == 2
    assert [(answer.total, answer.percent, answer.counted) for answer in await product.answers()] == [
        (400, 67, True),
        (400, 67, True),
    ]
    assert await standings(product) == [(400, 1), (400, 1)]
    assert await product.queues.guesses.claim(10) == []


async def test_a_batch_that_is_scored_twice_counts_once_and_answers_once(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(wrong(round_))
    jobs = await product.queues.guesses.claim(1)
    await asyncio.gather(product.scorer().handle(jobs), product.scorer().handle(jobs))
    assert await standings(product) == [(400, 1)]
    assert len(await product.answers()) == 1


class _CutOff(Lanes):
    """Guesses that can't be said to be done: the link broke."""

    async def complete(self, jobs: Sequence[Job], cooldown_ms: int = 0) -> list[Verdict]:
        raise RedisAway(f"{len(jobs)} {cooldown_ms}")


@pytest.mark.case("T16")
async def test_an_answer_that_was_not_handed_over_is_handed_over_when_its_guess_comes_again(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(wrong(round_))
    jobs = await product.queues.guesses.claim(1)
    answer = rebrand(jobs[0].id, NOTICE)
    world, lanes = product.world, _CutOff(product.redis, GUESSES, job_kind=JOB)
    with pytest.raises(RedisAway):
        await ScoreWorker(lanes, world.units, world.relay, world.clock, world.now_ms).handle(jobs)
    assert await product.queues.notices.job(answer) is None
    await product.scorer().handle(jobs)
    assert await product.queues.notices.job(answer) is not None, "without a sweep"


async def test_a_guess_whose_message_has_a_row_already_is_dropped_in_silence(product: House) -> None:
    room, round_ = await product.open()
    first = product.request(message=77)
    await product.game.guesses.guess(first, theme(round_.theme).show(wrong(round_)), explicit=False)
    await product.score()
    async with product.units.read() as work:
        player = (await work.guesses.standings(round_.id))[0].player
        before = await work.outbox.unsent(100, 1 << 62)
    # The same message under another job id: what a Redis that forgot its dedup keys lets in.
    payload = guess_payload(round_.id, wrong(round_), room.chat_ref, message_ref=77)
    await product.queues.guesses.enqueue(room.id, product.world.mint(JOB), payload, lane=player)
    assert await product.score() == 1
    assert await standings(product) == [(400, 1)]
    async with product.units.read() as work:
        assert await work.outbox.unsent(100, 1 << 62) == before


def guess_payload(round_id: str, codes: Sequence[str], chat_ref: int, message_ref: int) -> bytes:
    payload = f'["{round_id}","{"".join(codes)}",{chat_ref},{message_ref},0]'.encode()
    assert decode(payload).codes == tuple(codes)
    return payload


@pytest.mark.parametrize(
    "poison",
    [
        b"",
        b"\xff\x00",
        b"[]",
        b'["GAM00000000000","0000",1,1,1]',
        b'["GAM0KHTOWnGLuC","000001000200030004000500",1,1,1]',
    ],
    ids=["empty", "bytes", "list", "short", "unknown round"],
)
async def test_a_poison_job_in_a_batch_hurts_only_itself(product: House, poison: bytes) -> None:
    room, round_ = await product.open()
    await product.guess(wrong(round_), "Ana")
    async with product.units.begin() as work:
        player = await work.rooms.player(product.request("Eve").account or pytest.fail("no account"))
        await work.commit()
    bad = product.world.mint(JOB)
    await product.queues.guesses.enqueue(room.id, bad, poison, lane=player.id)
    await product.guess(wrong(round_), "Ben")
    assert await product.score() == 3
    assert await standings(product) == [(400, 1), (400, 1)]
    assert len(await product.answers()) == 2
    assert await product.queues.guesses.job(bad) is not None, "the poison job is kept, to be looked at"


async def test_the_earlier_accepted_of_two_winning_guesses_wins_whatever_is_scored_first(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(round_.secret, "Ana")
    await product.guess(round_.secret, "Ben")
    first, second = await product.queues.guesses.claim(2)
    assert first.seq < second.seq
    await product.scorer().handle([second])
    _, closing = await product.current()
    assert (closing.state, closing.closing_seq) == (RoundState.CLOSING, second.seq)
    await product.scorer().handle([first])
    _, closing = await product.current()
    assert (closing.close_reason, closing.closing_seq) == (CloseReason.CRACKED, first.seq)


async def test_a_guess_behind_the_crack_is_answered_and_not_counted(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(round_.secret, "Ana")
    await product.guess(wrong(round_), "Ben")
    await product.score(1)
    await product.score(1)
    assert [(answer.total, answer.counted) for answer in await product.answers()] == [(600, True), (400, False)]
    assert await standings(product) == [(600, 1)]


async def test_a_guess_behind_the_crack_in_the_same_batch_is_not_counted_either(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(round_.secret, "Ana")
    await product.guess(wrong(round_), "Ben")
    await product.score(2)
    assert [(answer.total, answer.counted) for answer in await product.answers()] == [(600, True), (400, False)]


async def test_a_cracked_round_takes_no_more_guesses(product: House) -> None:
    _, round_ = await product.open()
    await product.guess(round_.secret, "Ana")
    await product.score()
    assert await product.guess(wrong(round_), "Ben") is Receipt.REFUSED


async def test_many_workers_on_one_room_count_each_guess_once(product: House) -> None:
    _, round_ = await product.open()
    tries = list(itertools.islice(itertools.permutations(round_.keyboard, 6), 60))
    tries = [codes for codes in tries if codes != round_.secret]
    for number, codes in enumerate(tries):
        await product.guess(codes, f"P{number % 5}")

    async def work(worker: ScoreWorker) -> None:
        while jobs := await product.queues.guesses.claim(7):
            await worker.handle(jobs)

    await asyncio.gather(*(work(product.scorer()) for _ in range(4)))
    while await product.score(100):
        pass
    assert sum(guesses for _, guesses in await standings(product)) == len(tries)
    assert len(await product.answers()) == len(tries)
