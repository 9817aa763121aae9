"""``status``: a queue as it works, as a live table or once."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from typing import Annotated, Any, Final

import typer
from redis.exceptions import RedisError
from rich.console import Console
from rich.live import Live

from bot.commands.lanes import options
from bot.commands.lanes.answers import answer
from bot.commands.lanes.options import QueueName
from bot.commands.lanes.picture import picture
from bot.commands.lanes.session import in_house, in_house_until
from bot.commands.lanes.watching import Look, Watch
from bot.commands.options import DataDir, console
from bot.running import Stop
from bot.wiring import House
from engine.store.errors import StoreUnavailable
from engine.workers.stopping import pause_unless

_GLANCE_S: Final = 0.2
_ONCE_GLANCES: Final = 4
_FRAME_LINES: Final = 6


def status(
    *,
    queue: options.Queue = QueueName.GUESSES,
    top: Annotated[int, typer.Option("--top", min=1, max=1_000, help="Most groups to show, deepest first.")] = 20,
    once: Annotated[bool, typer.Option("--once", help="Print one look, and end.")] = False,
    every: Annotated[
        float, typer.Option("--every", min=0.1, max=3_600, metavar="SECONDS", help="Look so often.")
    ] = 1.0,
    json: options.Json = False,
    data_dir: DataDir = None,
) -> None:
    """Watch a queue: who waits, who is served, and whether each gets the share its weight is worth. Ctrl-C ends it.

    Share is taken from the leases that are seen meanwhile; beside it is what the weight is worth. Into a pipe it
    prints one look.
    """
    if once or json or not sys.stdout.isatty():
        look = in_house(lambda house: _look_once(house, queue, top), data_dir)
        if json:
            answer(_document(look), as_json=True)
        else:
            console().print(picture(look))
        return
    in_house_until(lambda house, stop: _watch(house, stop, queue, top, every), data_dir)


async def _look_once(house: House, queue: QueueName, top: int) -> Look:
    watch = Watch(house, queue, top)
    await watch.look()
    for _ in range(_ONCE_GLANCES):
        await asyncio.sleep(_GLANCE_S / 2)
        await watch.glance()
    return await watch.look()


async def _watch(house: House, stop: Stop, queue: QueueName, top: int, every_s: float) -> None:
    console = Console()
    watch = Watch(house, queue, max(1, min(top, console.height - _FRAME_LINES)))
    note = f"{house.database.where}; Ctrl-C ends"
    clock = asyncio.get_running_loop().time
    look: Look | None = None
    with Live(console=console, auto_refresh=False) as live:
        while not stop.is_set():
            next_s = clock() + every_s
            try:
                look = await watch.look()
                live.update(picture(look, note=note), refresh=True)
                while not stop.is_set() and (left_s := next_s - clock()) > 0:
                    await pause_unless(stop, min(left_s, _GLANCE_S))
                    await watch.glance()
            except (RedisError, OSError, StoreUnavailable) as error:
                lost = f"lost the servers ({type(error).__name__}); looking again"
                live.update(lost if look is None else picture(look, note=lost), refresh=True)
                await pause_unless(stop, every_s)


def _document(look: Look) -> dict[str, Any]:
    stats = {name: value for name, value in asdict(look.stats).items() if name not in {"top", "leased"}}
    per_second = None if look.per_second is None else round(look.per_second, 1)
    return {
        "queue": look.queue,
        **stats,
        "in_flight": look.stats.leased,
        "per_second": per_second,
        "rows": [asdict(row) for row in look.rows],
    }
