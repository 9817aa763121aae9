"""A Redis that lost everything, or went back in time, is healed from SQL; what is over stays over."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from bot.embedded import EmbeddedValkey
from engine.game.model import RoundState
from engine.game.notices import Answer, Page, PageShown
from engine.game.ports import Outgoing
from engine.game.request import Receipt
from engine.game.themes import theme
from engine.ids import NOTICE, NoticeId
from engine.lanes import Verdict
from engine.workers.sweep import Sweep
from tests.waiting import wait_until
from tests.workers.levers import flood, told
from tests.workers.making import House, Recorder, house, wrong
from tests.workers.working import at_work, quiet


@dataclass
class Server:
    """A Valkey that a test stops, changes and starts again under its clients, who find it under one name."""

    valkey: EmbeddedValkey
    name: Path

    @property
    def data(self) -> Path:
        return self.valkey.data_dir / "valkey"

    def start(self) -> None:
        self.valkey.start()
        self.name.unlink(missing_ok=True)
        self.name.symlink_to(self.valkey.socket_path)

    def copy(self, to: Path) -> None:
        self.valkey.stop()
        shutil.copytree(self.data, to)
        self.start()

    def put_back(self, copy: Path | None) -> None:
        """Start with what the copy has; with nothing where there is none."""
        self.valkey.stop()
        shutil.rmtree(self.data)
        if copy is not None:
            shutil.copytree(copy, self.data)
        self.start()


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    made = Server(EmbeddedValkey(tmp_path / "data"), tmp_path / "socket")
    made.start()
    yield made
    made.valkey.stop()


@asynccontextmanager
async def on(server: Server, database_url: str) -> AsyncIterator[House]:
    client = Redis(unix_socket_path=str(server.name), decode_responses=False, retry=Retry(NoBackoff(), 0))
    async with client, house(client, database_url) as made:
        yield made


async def counted(product: House, chat: int = -100) -> int:
    _, round_ = await product.current(chat)
    async with product.units.read() as work:
        return sum(standing.guesses for standing in await work.guesses.standings(round_.id))


async def state(product: House, chat: int = -100) -> RoundState:
    return (await product.current(chat))[1].state


def kinds(messenger: Recorder) -> Counter[str]:
    return Counter(notice.kind for notice in messenger.notices)


async def test_a_redis_put_back_to_an_older_copy_changes_nothing_that_is_over_and_hears_what_came_since(
    server: Server, ready_database_url: str, tmp_path: Path
) -> None:
    messenger = Recorder()
    async with on(server, ready_database_url) as product:
        room, first = await product.open()
        paused, _ = await product.open(chat=-200)
        await product.guess(wrong(first))
        server.copy(tmp_path / "copy")  # it has a guess not scored yet, and nothing was said
        await product.redis.connection_pool.disconnect()
        async with at_work(product, messenger):
            await product.guess(first.secret, "Ben")
            await quiet(product)
            await product.game.operators.set(room.id, {"weight": 5, "cap": 70})
            await product.game.levers.pause(product.request(chat=-200))
            await product.open()
            await quiet(product)
            await quiet(product, -200)
            said, before = kinds(messenger), await product.queues.guesses.newest()
            server.put_back(tmp_path / "copy")
            await product.redis.connection_pool.disconnect(inuse_connections=False)

            async def heard() -> bool:
                return (await told(product.redis, product, room.id))[::2] == (b"5", b"70")

            await wait_until(heard, "the levers are told again", timeout_ms=20_000)
            await quiet(product)
            _, second = await product.current()
            await product.guess(wrong(second), "Cid")
            await quiet(product)
            assert kinds(messenger) == said + Counter(answer=1)
            assert await counted(product) == 1
            assert await product.queues.guesses.newest() > before
            assert await product.redis.sismember("emq:{cm}:paused", paused.id)
            await product.guess(second.secret, "Ben")
            await quiet(product)
            assert kinds(messenger) == said + Counter(answer=2, round_revealed=1)


async def test_a_redis_that_starts_empty_goes_on_with_rounds_levers_and_unsaid_answers(
    server: Server, ready_database_url: str
) -> None:
    messenger = Recorder()
    async with on(server, ready_database_url) as product:
        room, round_ = await product.open()
        await product.game.operators.change_plan("gold", {"weight": 3, "ceiling": 5, "cap": 9})
        await product.game.operators.give(room.id, "gold")
        await product.guess(wrong(round_))
        assert await product.score() == 1
        server.put_back(None)
        await product.redis.connection_pool.disconnect()
        async with at_work(product, messenger):
            await quiet(product)
            assert kinds(messenger) == Counter(round_opened=1, answer=1)
            assert await told(product.redis, product, room.id) == (b"3", b"5", b"9")
            product.clock.ahead_ms = 600_001  # nothing on the lanes knows of the deadline any more
            await wait_until(lambda: kinds(messenger)["round_revealed"], "the deadline is found")


async def test_a_closing_round_whose_settlement_was_lost_is_settled_by_one_sweep(product: House, redis: Redis) -> None:
    _, round_ = await product.open()
    await product.guess(round_.secret)
    assert await product.score() == 1
    await redis.flushall()
    messenger = Recorder()
    async with at_work(product, messenger):
        await wait_until(lambda: kinds(messenger)["round_revealed"], "the round is settled")
    assert await state(product) is RoundState.SETTLED


async def test_a_pause_of_all_rooms_outlives_a_loss_while_workers_run(product: House, redis: Redis) -> None:
    await product.open()
    async with at_work(product, Recorder()):
        await product.game.operators.pause_all()
        await redis.flushall()
        await wait_until(lambda: redis.hget("emq:{cm}:state", "paused"), "the pause is told again")
        await flood(product, 1)
        assert await product.queues.guesses.claim() == []


async def test_however_many_answers_were_lost_one_sweep_hands_them_all_over(product: House, redis: Redis) -> None:
    room, _ = await product.open()
    lost = [
        Outgoing(NoticeId(product.world.mint(NOTICE)), room.chat, 0, PageShown(Page.HELP), None, 0)
        for _ in range(2_500)
    ]
    async with product.units.begin() as work:
        await work.outbox.put(lost)
        await work.commit()
    sweep = Sweep(product.world, every_ms=1)
    for _ in range(5):
        await sweep.once(grace_ms=1)
    await redis.flushall()
    await sweep.once(grace_ms=1)
    assert await product.queues.notices.depth(room.chat) >= len(lost)


async def test_a_guess_scored_before_the_loss_is_recognised_by_its_row_when_its_message_comes_again(
    product: House, redis: Redis
) -> None:
    _, round_ = await product.open()
    text, request = theme(round_.theme).show(wrong(round_)), product.request()
    assert await product.game.guesses.guess(request, text, explicit=False) is Receipt.DURABLE
    assert await product.score() == 1
    await redis.flushall()
    assert await product.game.guesses.guess(request, text, explicit=False) is Receipt.DURABLE
    assert await product.score() == 1
    assert await counted(product) == 1
    assert len([notice for notice in await product.unsent() if isinstance(notice, Answer)]) == 1


async def test_seqs_and_tokens_go_on_upwards_after_a_loss_and_what_was_leased_before_it_settles_nothing(
    product: House, redis: Redis
) -> None:
    _, round_ = await product.open()
    await product.guess(wrong(round_))
    (before,) = await product.queues.guesses.claim()
    await redis.flushall()
    await product.guess(wrong(round_), "Ben")
    (after,) = await product.queues.guesses.claim()
    assert (after.seq > before.seq, after.token > before.token) == (True, True)
    assert await product.queues.guesses.complete([before]) == [Verdict.stale]
    assert await product.queues.guesses.complete([after]) == [Verdict.ok]
