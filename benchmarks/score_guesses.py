"""Scores and commits guesses: ``python -m benchmarks.score_guesses REDIS_URL DATABASE_URL GUESSES``.

Fifty rooms of ten players each; every guess becomes a row, a standing, an answer in the outbox and a notice on its
chat's lane, as in the product. Nothing is said: that is another worker's work.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time

import uvloop

from benchmarks.process import say
from bot.redis_server import open_redis
from engine.game.commitment import commit
from engine.game.draw import SeededDraw
from engine.game.model import Account, Place, Room, Round, RoundState, Source
from engine.game.ports import GuessJob
from engine.game.themes import THEMES
from engine.ids import JOB, ROUND, JobId, Minter, PlayerId, RoundId
from engine.lanes import Job, Shift, Submission
from engine.store.database import open_database
from engine.store.work import SqlUnits
from engine.workers.adapters import NotifyRelay, Queues, SettleClock
from engine.workers.loop import worker
from engine.workers.payload import encode
from engine.workers.scorer import ScoreWorker
from migrations.run import upgrade

_ROOMS = 50
_PLAYERS = 10
_BATCH = 250
_LOOPS = 2
_AT_ONCE = 500


async def main(redis_url: str, database_url: str, guesses: int) -> None:
    minter = Minter(0)
    async with open_redis(redis_url) as redis, await open_database(database_url) as database:
        await upgrade(database)
        units = SqlUnits(database, minter.mint)
        queues = Queues.on(redis)
        rounds = [await _open_round(units, minter, number) for number in range(_ROOMS)]
        await _enqueue(queues, minter, rounds, guesses)
        scorer = ScoreWorker(
            queues.guesses, units, NotifyRelay(queues.notices), SettleClock(queues.settlements), _now_ms
        )
        began = time.monotonic()
        stop = asyncio.Event()
        scored = 0

        async def handle(jobs: list[Job]) -> None:
            nonlocal scored
            await scorer.handle(jobs)
            scored += len(jobs)
            if scored >= guesses:
                stop.set()

        await worker("score", queues.guesses, handle, Shift(batch=_BATCH, at_once=_LOOPS, together=True)).run(stop)
        elapsed_s = time.monotonic() - began
        say(per_s=guesses / elapsed_s, committed=await _committed(units, rounds))


async def _open_round(units: SqlUnits, minter: Minter, number: int) -> tuple[Room, Round, list[PlayerId]]:
    theme = next(iter(THEMES.values()))
    drawn = SeededDraw(number).draw(theme, 1)
    async with units.begin() as work:
        room = await work.rooms.at(Place(-1_000_000 - number, 0, f"Room {number}", private=False))
        players = [
            (await work.rooms.player(Account(number * 1_000 + player, f"Player {player}"))).id
            for player in range(_PLAYERS)
        ]
        round_ = Round(
            id=RoundId(minter.mint(ROUND)),
            room=room.id,
            number=1,
            theme=theme.name,
            keyboard=drawn.keyboard,
            secret=drawn.secret,
            nonce=drawn.nonce,
            commitment=commit(drawn.secret, drawn.nonce),
            state=RoundState.OPEN,
            opened_ms=_now_ms(),
            minutes=60,
            deadline_ms=_now_ms() + 3_600_000,
        )
        await work.rounds.add(round_)
        await work.commit()
    return room, round_, players


async def _enqueue(
    queues: Queues, minter: Minter, rounds: list[tuple[Room, Round, list[PlayerId]]], guesses: int
) -> None:
    chance = random.Random(1)  # noqa: S311 - a repeatable load
    for first in range(0, guesses, _AT_ONCE):
        batch = []
        for number in range(first, min(first + _AT_ONCE, guesses)):
            room, round_, players = rounds[number % _ROOMS]
            codes = tuple(chance.sample(round_.keyboard, 6))
            if codes == round_.secret:
                codes = codes[::-1]
            job = GuessJob(round_.id, codes, Source(room.chat_ref, number), _now_ms())
            batch.append(
                Submission(
                    group=room.id,
                    job_id=JobId(minter.mint(JOB)),
                    payload=encode(job),
                    lane=players[number // _ROOMS % _PLAYERS],
                    dedup=str(job.source),
                )
            )
        await queues.guesses.enqueue_many(batch)


async def _committed(units: SqlUnits, rounds: list[tuple[Room, Round, list[PlayerId]]]) -> int:
    committed = 0
    async with units.read() as work:
        for _, round_, _ in rounds:
            committed += sum(line.guesses for line in await work.guesses.standings(round_.id))
    return committed


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
