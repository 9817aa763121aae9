"""``codemojex play``: the game in the terminal, by hand or by script."""

from __future__ import annotations

import asyncio
import atexit
import sys
from collections.abc import Awaitable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TextIO

import typer
from pydantic import SecretStr

from bot.commands.loading import loaded
from bot.commands.options import DataDir
from bot.embedded import DataDirectoryUnusable
from bot.errors import OutputUnusable
from bot.logs import configure
from bot.running import Stop, run, together
from bot.settings import LogFormat, Settings
from bot.terminal.api import TOKEN, ChatApi, ChatRequest
from bot.terminal.chat import ClockIds, GroupChat
from bot.terminal.people import Person
from bot.terminal.screen import Screen
from bot.terminal.script import Line, load_script, perform
from bot.terminal.settled import Settled
from bot.terminal.table import YOU, Legend, sit_at
from bot.terminal.typed import PipedTyping, TerminalTyping
from bot.wiring import (
    Addresses,
    House,
    Transport,
    open_application,
    open_house,
    servers,
    watch_over,
    work,
)
from bot.wiring_intake import take_updates
from engine.game.draw import SecureDraw, SeededDraw
from engine.game.ports import Draw, Drawn
from engine.game.themes import Theme
from engine.workers.quiet import Quiet

_LOG_FILE: Final = "play.log"
_BOT: Final = Person(1, "Codemojex")
_COOLDOWN_MS: Final = 250
_LEASE_MS: Final = 5_000


@dataclass(frozen=True, slots=True)
class _Game:
    """What the command line asked for."""

    lines: list[Line] | None
    chat: str
    seed: int | None
    show_secret: bool
    pace_s: float


def play(
    script: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Play this script (- is standard input): one message a line, NAME: TEXT."),
    ] = None,
    chat: Annotated[str, typer.Option(metavar="NAME", help="Which group chat to play in.")] = "Codemojex",
    seed: Annotated[int | None, typer.Option(help="Draw keyboards and secrets that a second run draws again.")] = None,
    *,
    show_secret: Annotated[bool, typer.Option("--show-secret", help="Show the secret when a round opens.")] = False,
    pace: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="About how long a simulated player takes over a guess.")
    ] = 8.0,
    data_dir: DataDir = None,
) -> None:
    """Play in the terminal, in a group chat with two simulated players, on servers of its own in the data directory.

    You are the chat's admin; in a script its first speaker is. A second run in the same data directory goes on where
    the first stopped. A script's messages are numbered by their lines, so the same script says the same messages
    again and none counts twice; another script wants another --chat or --data-dir. Blank lines of a script and lines
    that begin with # are skipped. Commands in it but /g wait until everything before them is answered.
    """
    game = _Game(load_script(script) if script is not None else None, chat, seed, show_secret, pace)
    settings = for_the_terminal(loaded(data_dir))
    with servers(settings) as addresses:
        log = _opened_log(settings.data_dir / _LOG_FILE)
        configure(settings.log_level, json=settings.log_format is LogFormat.JSON, stream=log)
        raise typer.Exit(run(lambda stop: _play(game, settings, addresses, stop)))


def _opened_log(path: Path) -> TextIO:
    try:
        log = path.open("a", encoding="utf-8")
    except OSError as error:
        raise DataDirectoryUnusable(
            f"cannot write {path}: {error.strerror}; make it writable, or name another directory with --data-dir"
        ) from error
    atexit.register(log.close)  # what ends the program is logged last
    return log


def for_the_terminal(settings: Settings) -> Settings:
    """On servers of its own, and brisk where the environment says nothing: nobody but you waits for this chat."""
    brisk = {"group_cooldown_ms": _COOLDOWN_MS, "group_calls_a_minute": 0, "calls_a_second": 0, "lease_ms": _LEASE_MS}
    own = {"redis_url": None, "redis_replicas": 0, "database_url": None, "telegram_token": SecretStr(TOKEN)}
    unset = {name: value for name, value in brisk.items() if name not in settings.model_fields_set}
    return settings.model_copy(update=own | unset)


async def _play(game: _Game, settings: Settings, addresses: Addresses, stop: Stop) -> int:
    scripted = game.lines is not None
    screen = Screen(_print, numbered=scripted, coloured=not scripted and sys.stdout.isatty())
    admin = Person.named(game.lines[0].speaker if game.lines is not None else YOU)
    chat = GroupChat(game.chat, admin, _BOT, ClockIds())
    chat.watch(screen.show)
    api = ChatApi(chat)
    transport = Transport(ChatRequest(api), ChatRequest(api))
    draw: Draw = SecureDraw() if game.seed is None else SeededDraw(game.seed)
    if game.show_secret:
        draw = _ShownDraw(draw, screen)
    async with (
        open_house(settings, addresses, draw, migrating=True) as house,
        open_application(house, stop, transport) as application,
    ):
        if application is None:
            return stop.exit_code
        await together(
            stop,
            watch_over(addresses, stop),
            work(house, application, stop),
            take_updates(house, application, stop),
            _until_asked_to_stop(_sit(game, chat, screen, house), stop),
        )
    if game.lines is None:
        screen.hint(f"The game is kept in {settings.data_dir}: the same command goes on from here.")
    if game.lines is None or stop.signal is None:
        return 0
    typer.echo("codemojex: stopped before all was answered; the same command goes on from here", err=True)
    return stop.exit_code


async def _sit(game: _Game, chat: GroupChat, screen: Screen, house: House) -> None:
    world = house.game.world
    settled = Settled(chat, Quiet(world.units, world.lanes).wait, str(house.settings.data_dir / _LOG_FILE))
    if game.lines is not None:
        await perform(game.lines, chat, settled)
        return
    legend = Legend(chat)
    at_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    typing = TerminalTyping(YOU, legend.shown) if at_terminal else PipedTyping()
    with typing.around():
        await sit_at(chat, typing, legend, screen, pace_s=game.pace_s, after_each=_at_once if at_terminal else settled)


async def _at_once() -> None:
    """A person at a terminal sees for themselves when an answer is there."""


async def _until_asked_to_stop(job: Awaitable[None], stop: Stop) -> None:
    """Run ``job`` to its end, or drop it where ``stop`` comes first."""
    working, stopped = asyncio.ensure_future(job), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((working, stopped), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        for task in (working, stopped):
            task.cancel()
        await asyncio.gather(working, stopped, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class _ShownDraw:
    """Draws, and shows the secret to whoever asked to see it."""

    draws: Draw
    screen: Screen

    def draw(self, theme: Theme, number: int) -> Drawn:
        """Draw for the room's round ``number``."""
        drawn = self.draws.draw(theme, number)
        self.screen.secret(theme.show(drawn.secret))
        return drawn


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # whoever read it has gone, and knows
    except OSError as error:
        raise OutputUnusable(
            f"cannot write what the chat shows: {error.strerror}; make room, or name another output"
        ) from error
