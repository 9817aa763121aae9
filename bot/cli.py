"""The command line. Whatever goes wrong is told in one line: what it is, and what to do.

Exit codes: 0 done (a worker or bot that was asked to stop has done what it should), 1 something is not there or
refuses us, 2 called or set up wrong, 128 + n play was cut short by signal n.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, Final

import structlog
import typer
from redis.exceptions import RedisError
from typer.exceptions import Abort, TyperException

from bot.commands.aside import aside
from bot.commands.bench import bench
from bot.commands.flood import flood
from bot.commands.lanes import lanes
from bot.commands.migrate import migrate
from bot.commands.play import play
from bot.commands.serve import bot, up, worker
from bot.commands.version import version
from bot.embedded import EmbeddedError
from bot.errors import OutputUnusable, ProgramError
from engine.game.errors import OperationRefused
from engine.ids import CHAT, JOB, ROOM, BadId
from engine.lanes import BadArgument
from engine.store.errors import StoreError
from engine.workers.node import NoNodeLeft

CRASHED: Final = "crashed"
_NAME: Final = "codemojex"
_FAILED: Final = 1
_MISUSED: Final = 2
_INTERRUPTED: Final = 130
_LAST_STREAM: Final = 2
_DIGITS: Final = "0KHTOWnGLuC"
"""Of an id that stands for any."""
_FOUND: Final = {ROOM: "rooms", CHAT: "status --queue cm.notify", JOB: "dead"}
"""The command that lists ids of a kind."""

app = typer.Typer(
    name=_NAME,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # a box around an error is no line
    pretty_exceptions_enable=False,  # they would print local variables, and with them secrets
)


def _tell_version(told: bool) -> None:  # noqa: FBT001 - the option parser calls it
    if told:
        version()
        raise typer.Exit


@app.callback()
def program(
    *,
    told: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="Print the version and exit.")
    ] = False,
) -> None:
    """An emoji code-breaking game for Telegram chats that stays fair when one room floods."""
    del told  # its callback has seen to it


for command in (play, up, bot, worker, migrate, bench, flood, version):
    app.command()(command)
app.add_typer(lanes)
app.add_typer(aside)


def main() -> None:
    """Run the command that the process was called with, and exit."""
    _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")  # emoji are what this program says
    sys.exit(run(sys.argv[1:]))


def _open_streams() -> None:
    """Put the null device in place of each standard stream that our caller closed.

    Else the next file opened would take its number, and what is said to it would go into that file.
    """
    handle = os.open(os.devnull, os.O_RDWR)
    while handle <= _LAST_STREAM:
        os.set_inheritable(handle, True)
        handle = os.open(os.devnull, os.O_RDWR)
    os.close(handle)
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def run(arguments: list[str]) -> int:
    """Run one command; answers the exit code."""
    try:
        answered = typer.main.get_command(app).main(arguments, prog_name=_NAME, standalone_mode=False)
    except (KeyboardInterrupt, Abort):
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - whatever it is, a traceback on the terminal may show secrets
        return _explain(error)
    return answered if isinstance(answered, int) else 0


def _explain(error: Exception) -> int:
    match error:
        case TyperException():
            return _misused(error)
        case ProgramError():
            if isinstance(error, OutputUnusable):
                _say_no_more()
            return _fail(str(error), error.exit_code)
        case StoreError() | EmbeddedError() | NoNodeLeft() | OperationRefused() | BadId() | BadArgument():
            told = f"{error}; {_remedy(error)}" if isinstance(error, BadId) else str(error)
            return _fail(told, _MISUSED if isinstance(error, (BadId, BadArgument)) else _FAILED)
        case RedisError():
            lost = f"lost Redis ({type(error).__name__}); start it, then this command again: nothing is lost"
            return _fail(lost, _FAILED)
        case BrokenPipeError():
            _say_no_more()
            return _FAILED
        case _:
            return _crash(error)


def _remedy(error: BadId) -> str:
    """An id to go by, and where there are some."""
    kind = error.kind or ROOM
    return f"write one like {kind}{_DIGITS}: see `codemojex lanes {_FOUND.get(kind, 'status')}`"


def _say_no_more() -> None:
    """Nobody takes what we say; so that nothing more is flushed to them at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _misused(error: TyperException) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else _NAME
    message = error.format_message()
    if "\n" in message:  # called without a command: this is the help
        print(message, file=sys.stderr)  # noqa: T201 - the command line speaks
        return error.exit_code
    message = message.replace("Value error, ", "").rstrip(".")  # the option parser quotes Python
    return _fail(f"{message}; see `{path} --help`", error.exit_code)


def _crash(error: Exception) -> int:
    if structlog.is_configured():
        structlog.get_logger(__name__).critical(CRASHED, exc_info=error)
    where = traceback.extract_tb(error.__traceback__)[-1]
    fault = f"{type(error).__name__} in {Path(where.filename).name}, line {where.lineno}"
    return _fail(f"stopped by a fault of its own ({fault}); please report it with the log", _FAILED)


def _fail(message: str, exit_code: int) -> int:
    print(f"{_NAME}: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201 - the command line speaks
    return exit_code
