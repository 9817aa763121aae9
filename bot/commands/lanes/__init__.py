"""``codemojex lanes``: what operators see of the queues, and what they do to them.

On the queue of guesses every lever goes through the rooms' service: the row first, then the lanes, so that it is kept
where Redis loses its data. The other two queues have levers in Redis alone.
"""

from __future__ import annotations

from typing import Final

import typer

from bot.commands.lanes.auditing import audit
from bot.commands.lanes.backlog import dead, drain, forget, reap, reassign, redrive
from bot.commands.lanes.levers import cap, hold, limit, pause, resume, weight
from bot.commands.lanes.plans import plan, plans
from bot.commands.lanes.rooms import rooms
from bot.commands.lanes.status import status

lanes: Final = typer.Typer(
    name="lanes",
    help="Watch the queues and pull their levers, beside a running program.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for command in (
    status,
    rooms,
    pause,
    resume,
    limit,
    weight,
    cap,
    hold,
    drain,
    forget,
    reassign,
    reap,
    redrive,
    dead,
    audit,
):
    lanes.command()(command)
lanes.command()(plans)
lanes.add_typer(plan)
