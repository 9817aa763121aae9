"""Old rows go, in batches, also while others prune; young ones and unsent ones stay."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from engine.game.model import Source
from engine.game.notices import Page, PageShown
from engine.game.ports import Outgoing
from engine.ids import NOTICE, Minter, NoticeId
from engine.workers.crew import Crew, CrewSettings
from engine.workers.pruning import DAY_MS, Pruning
from tests.waiting import wait_until
from tests.workers.making import House, Recorder


async def rows(product: House, count: int) -> list[NoticeId]:
    """So many commands with an answer that was said; answers the notices."""
    room, _ = await product.open()
    notices = [
        Outgoing(NoticeId(product.world.mint(NOTICE)), room.chat, 0, PageShown(Page.HELP), None, 0)
        for _ in range(count)
    ]
    async with product.units.begin() as work:
        await work.outbox.put(notices)
        await work.outbox.sent([notice.id for notice in notices], product.clock())
        for number in range(count):
            await work.inbox.first(Source(-7, number), product.clock())
        await work.commit()
    return [notice.id for notice in notices]


async def taken(product: House, number: int) -> bool:
    """Whether the command is remembered; it isn't by being asked."""
    async with product.units.begin() as work:
        return not await work.inbox.first(Source(-7, number), 0)


async def test_the_sweep_prunes_what_is_past_its_time_and_keeps_the_rest(product: House) -> None:
    await rows(product, 3)
    pruning = Pruning(product.world, keep_said_ms=7 * DAY_MS, keep_taken_ms=2 * DAY_MS)
    await pruning.once()
    assert await taken(product, 0)
    product.clock.ahead_ms = 2 * DAY_MS + 1_000
    await pruning.once()
    assert not await taken(product, 0)
    async with product.units.begin() as work:
        assert await work.outbox.prune(product.clock(), 100) == 3
    product.clock.ahead_ms = 8 * DAY_MS
    await pruning.once()
    async with product.units.begin() as work:
        assert await work.outbox.prune(product.clock(), 100) == 0
    assert [notice.kind for notice in await product.unsent()] == ["round_opened"]


async def test_one_look_deletes_a_bounded_part_and_the_next_goes_on(product: House) -> None:
    await rows(product, 1_200)
    product.clock.ahead_ms = 30 * DAY_MS
    one, other = (Pruning(product.world, keep_said_ms=DAY_MS, keep_taken_ms=DAY_MS) for _ in range(2))
    await asyncio.gather(one.once(), other.once())
    await one.once()
    assert not await taken(product, 0)
    assert not await taken(product, 1_199)
    async with product.units.begin() as work:
        assert await work.outbox.prune(product.clock(), 2_000) == 0


async def test_a_crew_prunes(product: House) -> None:
    await rows(product, 3)
    minter = Minter(2, now_ms=lambda: product.clock.ahead_ms + product.clock())
    product.clock.ahead_ms = 3 * DAY_MS
    world = replace(product.world, mint=minter.mint)
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(Crew(world, product.queues, Recorder(), CrewSettings(sweep_ms=10)).run(stop))

        async def forgotten() -> bool:
            return not await taken(product, 0)

        await wait_until(forgotten, "the oldest command is forgotten")
        stop.set()
