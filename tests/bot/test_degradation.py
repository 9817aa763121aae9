"""What a chat hears while a server is away: once that its messages are kept, then its answers."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from bot.apology import Apology
from bot.budget import Limits
from bot.embedded import EmbeddedValkey
from bot.embedded_postgres import PostgresServer
from engine.game.request import Receipt
from tests.bot.api import Refusal, flood
from tests.bot.making import ANA, BEN, GROUP, group, said
from tests.bot.stage import Stage, stage_on
from tests.lanes.proxy import Proxy
from tests.waiting import wait_until

# The library reads its own deprecated attribute as it makes a RetryAfter.
pytestmark = pytest.mark.filterwarnings("ignore:.*retry_after:telegram.warnings.PTBDeprecationWarning")

OTHER = -1005


def open_to_all(postgres: PostgresServer, url: str, *, is_open: bool) -> None:
    """Let clients connect to the database at ``url``, or cut them all off."""
    name = url.rpartition("@/")[2].partition("?")[0]
    postgres.sql(f'ALTER DATABASE "{name}" WITH ALLOW_CONNECTIONS {str(is_open).lower()}')
    if not is_open:
        postgres.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608 - our own name


@pytest.fixture
def ready_postgres_url(postgres: PostgresServer, migrated_postgres: str) -> str:
    return postgres.url(postgres.create(template=migrated_postgres))


def apologies(stage: Stage, chat: int = GROUP) -> int:
    return sum("can't get at my notes" in text for text in stage.api.texts(chat))


async def test_sql_away_is_told_once_and_the_guesses_are_answered_when_it_is_back(
    redis: Redis, postgres: PostgresServer, ready_postgres_url: str
) -> None:
    async with stage_on(redis, ready_postgres_url) as stage:
        await stage.say("/newgame fruits")
        await stage.told()
        near_miss = await stage.near_miss()
        guesses = [said(near_miss, person) for person in (ANA, BEN)]
        talk = said("is it broken?", ANA)
        elsewhere = said("/board", ANA, group(OTHER))
        open_to_all(postgres, ready_postgres_url, is_open=False)
        assert [(await stage.take(talk)).receipt for _ in range(2)] == [None, None]
        assert apologies(stage) == 0, "whoever talks to others waits for nothing"
        for update in (*guesses, elsewhere) * 3:
            slip = await stage.take(update)
            assert slip.receipt is None
            assert slip.error is not None
        assert apologies(stage) == apologies(stage, OTHER) == 1
        assert stage.api.count("sendMessage") == 3
        open_to_all(postgres, ready_postgres_url, is_open=True)
        stage.api.sent.clear()
        for update in guesses:

            async def taken(update: dict[str, object] = update) -> bool:
                return (await stage.take(update)).receipt is Receipt.DURABLE

            await wait_until(taken, "the guess is taken")
        told = "\n".join(await stage.told())
        assert told.count("560 / 600") == 2
        assert apologies(stage) == 0
        assert await stage.guesses() == 2


async def test_redis_away_is_told_once_and_nothing_is_acknowledged(
    valkey: EmbeddedValkey, ready_sqlite_url: str
) -> None:
    async with Proxy(valkey.socket_path) as proxy:
        link = Redis(port=proxy.port, decode_responses=False, retry=Retry(NoBackoff(), 0))
        async with link as through, stage_on(through, ready_sqlite_url, working=False, limits=Limits()) as stage:
            await through.flushall()
            await stage.say("/newgame fruits")
            guess = said(await stage.near_miss())
            await proxy.__aexit__(None, None, None)
            for _ in range(3):
                assert (await stage.take(guess)).receipt is None
            assert apologies(stage) == 1


async def test_a_blip_is_not_worth_a_word_and_another_outage_is_another(redis: Redis, ready_sqlite_url: str) -> None:
    now_ms = 0
    async with stage_on(redis, ready_sqlite_url, working=False) as stage:
        apology = Apology(now_ms=lambda: now_ms)
        message = stage.parsed(said("/board")).message
        assert message is not None
        for at_ms, told in ((0, 0), (1_999, 0), (2_000, 1), (2_001, 1), (600_000, 1), (1_300_000, 1), (1_302_000, 2)):
            now_ms = at_ms
            await apology.make(stage.application.bot, message)
            assert apologies(stage) == told


async def test_an_apology_is_on_the_budget_and_never_raises(redis: Redis, ready_sqlite_url: str) -> None:
    async with stage_on(redis, ready_sqlite_url, working=False, limits=Limits()) as stage:
        apology = Apology(after_ms=0)
        here, there = (stage.parsed(said("/board", ANA, group(chat))).message for chat in (GROUP, OTHER))
        assert here is not None
        assert there is not None
        await stage.application.bot.send_message(GROUP, "hello")
        await apology.make(stage.application.bot, here)
        assert apologies(stage) == 0
        for fault in (flood(30), Refusal(403, "Forbidden: bot was kicked")):
            stage.api.faults["sendMessage"].append(fault)
            await Apology(after_ms=0).make(stage.application.bot, there)
        assert apologies(stage, OTHER) == 0


async def test_only_so_many_chats_are_remembered(redis: Redis, ready_sqlite_url: str) -> None:
    async with stage_on(redis, ready_sqlite_url, working=False) as stage:
        apology = Apology(after_ms=60_000)
        for chat in range(1, 10_100):
            apology._seen((-chat, 0))
        assert len(apology._outages) == 10_000
        assert stage.api.sent == []
