"""One run: the servers, the passes, and the report of whatever was measured, however it ended."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path

from bot.flood.lanes_alone import open_lanes
from bot.flood.phases import Arena, ArenaGone, Pass, Tell
from bot.flood.plan import Plan
from bot.flood.product import open_product
from bot.flood.samples import Record
from bot.flood.servers import Kind, Servers, servers
from bot.flood.strangers import check_strangers
from bot.running import Stop, run


@dataclass(frozen=True, slots=True)
class Ground:
    """On what to run: servers of our own, but those that are named."""

    kind: Kind
    redis_url: str | None = None
    database_url: str | None = None
    known: bool = False
    """Whether it is known that these may be flooded."""

    @property
    def doubtful(self) -> bool:
        """Whether a game may live there."""
        return not self.known and (self.redis_url is not None or self.database_url is not None)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run came to; ``fifo`` is the pass on a single line, where one was asked for.

    ``signal``: the exit code of a run that a signal cut short, else 0.
    """

    fair: Record
    fifo: Record | None
    signal: int


def play(plan: Plan, ground: Ground, tell: Callable[[bool], Tell]) -> Ran:
    """Play the plan; blocks.

    Args:
        plan: as asked for.
        ground: where.
        tell: makes what is told how a pass goes; it is given whether that is on the single line.

    Raises:
        EmbeddedError, RedisUnusable, StoreError, BadPlan: each says what to do; nothing was measured.
    """
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="codemojex-flood-")))
        at = stack.enter_context(
            servers(home, ground.kind, ground.redis_url, ground.database_url, database=not plan.engine)
        )
        return run(lambda stop: _passes(plan, at, home, stop, tell, look=ground.doubtful and not plan.engine))


async def _passes(plan: Plan, at: Servers, home: Path, stop: Stop, tell: Callable[[bool], Tell], *, look: bool) -> Ran:
    if look:
        await check_strangers(at)
    fair = await _pass(plan, at, home, stop, tell(False), fifo=False)
    fifo = None
    if plan.fifo and not fair.ended:
        fifo = await _pass(plan, at, home, stop, tell(True), fifo=True)
    return Ran(fair, fifo, stop.exit_code)


async def _pass(plan: Plan, at: Servers, home: Path, stop: asyncio.Event, tell: Tell, *, fifo: bool) -> Record:
    try:
        async with _arena(plan, at, home, fifo=fifo) as arena:
            return await Pass(plan, arena, stop, tell).play(calm=not fifo)
    except ArenaGone as gone:
        return Record(ended=f"{gone} at the start")


def _arena(plan: Plan, at: Servers, home: Path, *, fifo: bool) -> AbstractAsyncContextManager[Arena]:
    return open_lanes(plan, at, fifo=fifo) if plan.engine else open_product(plan, at, home, single_line=fifo)
