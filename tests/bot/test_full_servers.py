"""Servers that are there and can't write: what isn't kept isn't acknowledged, the chat is told once, all goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from structlog.testing import capture_logs

from bot.budget import Limits
from bot.embedded import EmbeddedValkey
from bot.embedded_postgres import PostgresServer
from engine.game.request import Receipt
from engine.workers import events
from tests.bot.making import ANA, BEN, GROUP, said
from tests.bot.stage import Stage, stage_on
from tests.servers.filling import (
    full_disk,
    full_file,
    locked_file,
    out_of_memory,
    read_only,
    refusing,
    unkilled_binary,
)
from tests.waiting import wait_until

Trouble = Callable[[Stage, str, pytest.FixtureRequest], AbstractAsyncContextManager[None]]
GUESSES = 60


def name_of(url: str) -> str:
    return url.rpartition("@/")[2].partition("?")[0]


@asynccontextmanager
async def standby(_: Stage, url: str, request: pytest.FixtureRequest) -> AsyncIterator[None]:
    with read_only(request.getfixturevalue("postgres"), name_of(url)):
        yield


def answering(code: str) -> Trouble:
    @asynccontextmanager
    async def trouble(_: Stage, url: str, request: pytest.FixtureRequest) -> AsyncIterator[None]:
        async with refusing(request.getfixturevalue("postgres"), name_of(url), code):
            yield

    return trouble


def full(stage: Stage, _: str, __: pytest.FixtureRequest) -> AbstractAsyncContextManager[None]:
    return full_file(stage.house.units._database)


def locked(stage: Stage, url: str, _: pytest.FixtureRequest) -> AbstractAsyncContextManager[None]:
    return locked_file(stage.house.units._database, url.partition(":///")[2])


TROUBLES: dict[str, Trouble] = {
    "postgres read-only": standby,
    "postgres disk full": answering("53100"),
    "postgres out of memory": answering("53200"),
    "postgres too many connections": answering("53300"),
    "sqlite file full": full,
    "sqlite locked": locked,
}


@pytest.fixture
def url(request: pytest.FixtureRequest, trouble: str) -> str:
    if trouble.startswith("sqlite"):
        return str(request.getfixturevalue("ready_sqlite_url"))
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.url(server.create(template=request.getfixturevalue("migrated_postgres")))


def apologies(stage: Stage) -> int:
    return sum("can't get at my notes" in text for text in stage.api.texts(GROUP))


async def play(stage: Stage) -> str:
    """Open a round in which Ana and Ben have guessed once; answers a guess that comes near."""
    await stage.say("/newgame fruits")
    near_miss = await stage.near_miss()
    for person in (ANA, BEN):
        await stage.say(near_miss, person)
    await stage.told()
    return near_miss


async def until_durable(stage: Stage, update: dict[str, object]) -> None:
    async def is_durable() -> bool:
        return (await stage.take(update)).receipt is Receipt.DURABLE

    await wait_until(is_durable, "it is taken after all", timeout_ms=20_000, poll_ms=20)


@pytest.mark.parametrize("trouble", TROUBLES)
async def test_a_database_that_cannot_write_loses_no_guess_and_takes_no_command(
    redis: Redis, trouble: str, url: str, request: pytest.FixtureRequest
) -> None:
    async with stage_on(redis, url) as stage:
        near_miss = await play(stage)
        with capture_logs() as logs:
            async with TROUBLES[trouble](stage, url, request):
                for number in range(GUESSES):
                    slip = await stage.say(near_miss, (ANA, BEN)[number % 2])
                    assert slip.receipt is Receipt.DURABLE, "it needs nothing but its lane"

                async def refused() -> dict[str, object] | None:
                    update = said("/board", ANA)
                    return update if (await stage.take(update)).receipt is None else None

                board = await wait_until(refused, "a command finds no room", timeout_ms=20_000)
                assert board is not None
                assert (await stage.take(board)).receipt is None
                assert apologies(stage) == 1
                await wait_until(lambda: any(entry["event"] == events.LOOP_FAILED for entry in logs), "workers wait")
        await until_durable(stage, board)
        await stage.told()
        assert await stage.guesses() == GUESSES + 2
        assert await stage.house.unsent() == []


async def test_a_redis_out_of_memory_takes_no_guess_and_says_so_once(redis: Redis, ready_sqlite_url: str) -> None:
    async with stage_on(redis, ready_sqlite_url, working=False, limits=Limits()) as stage:
        await stage.say("/newgame fruits")
        guess = said(await stage.near_miss(), ANA)
        async with out_of_memory(redis):
            for _ in range(3):
                assert (await stage.take(guess)).receipt is None
            assert apologies(stage) == 1
        await until_durable(stage, guess)
    async with stage_on(redis, ready_sqlite_url) as stage:
        await stage.told()
        assert await stage.guesses() == 1


async def test_a_redis_out_of_memory_has_its_guesses_scored_and_their_room_freed(
    redis: Redis, ready_sqlite_url: str
) -> None:
    """The crack's settlement finds no room on its own lane, which must not keep the crack on its."""
    async with stage_on(redis, ready_sqlite_url, working=False) as idle:
        await idle.say("/newgame fruits")
        await idle.say(await idle.near_miss(), BEN)
        await idle.say(await idle.secret(), ANA)
    async with out_of_memory(redis), stage_on(redis, ready_sqlite_url) as stage:
        room = await stage.room()
        assert room is not None

        async def is_empty() -> bool:
            return await stage.house.queues.guesses.oldest(room.id) is None

        await wait_until(is_empty, "both are scored and done")
        assert await stage.guesses() == 2
    async with stage_on(redis, ready_sqlite_url) as stage:
        assert "Ana" in "\n".join(await stage.told())
        assert (await stage.round()).winner is not None


async def test_a_redis_whose_disk_is_full_refuses_what_it_cannot_keep_and_goes_on_when_there_is_room(
    tmp_path: Path, ready_sqlite_url: str
) -> None:
    """With ``everysec``, which an operator's own server may have; ours ends itself (``tests/test_fsync.py``)."""
    server = EmbeddedValkey(tmp_path / "data", fsync="everysec", binary=unkilled_binary(tmp_path))
    with server:
        client = Redis.from_url(server.url, decode_responses=False, retry=Retry(NoBackoff(), 0))
        async with client, stage_on(client, ready_sqlite_url) as stage:
            near_miss = await play(stage)
            taken = 2
            with full_disk(server):
                while (await stage.take(refused := said(near_miss, ANA))).receipt is Receipt.DURABLE:
                    taken += 1
                assert (await stage.take(refused)).receipt is None
                assert apologies(stage) == 1
            await until_durable(stage, refused)
            await stage.told()
            assert await stage.guesses() == taken + 1
            assert await stage.house.unsent() == []
