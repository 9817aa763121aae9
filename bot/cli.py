"""The command line. Whatever goes wrong is told in one line: what it is, and what to do.

Exit codes: 0 done (a worker or bot that was asked to stop has done what it should), 1 something is not there or
refuses us, 2 called or set up wrong, 128 + n play was cut short by signal n.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Final

import typer
from typer.exceptions import Abort, TyperException

from bot.commands.migrate import migrate
from bot.commands.play import play
from bot.commands.serve import bot, up, worker
from bot.commands.version import version
from bot.embedded import EmbeddedError
from bot.errors import ProgramError
from engine.store.errors import StoreError
from engine.workers.node import NoNodeLeft

_NAME: Final = "codemojex"
_FAILED: Final = 1
_INTERRUPTED: Final = 130

app = typer.Typer(
    name=_NAME,
    help="An emoji code-breaking game for Telegram chats that stays fair when one room floods.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # a box around an error is no line
    pretty_exceptions_enable=False,  # they would print local variables, and with them secrets
)
for command in (play, up, bot, worker, migrate, version):
    app.command()(command)


def main() -> None:
    """Run the command that the process was called with, and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")  # emoji are what this program says
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; answers the exit code."""
    try:
        answered = typer.main.get_command(app).main(arguments, prog_name=_NAME, standalone_mode=False)
    except TyperException as error:
        return _misused(error)
    except (ProgramError, StoreError, EmbeddedError, NoNodeLeft) as error:
        return _fail(str(error), error.exit_code if isinstance(error, ProgramError) else _FAILED)
    except (KeyboardInterrupt, Abort):
        return _INTERRUPTED
    except BrokenPipeError:
        # Whoever read us has gone; so that nothing more is flushed to it at exit:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED
    return answered if isinstance(answered, int) else 0


def _misused(error: TyperException) -> int:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else _NAME
    message = error.format_message()
    if "\n" in message:  # called without a command: this is the help
        print(message, file=sys.stderr)  # noqa: T201 - the command line speaks
        return error.exit_code
    return _fail(f"{message.rstrip('.')}; see `{path} --help`", error.exit_code)


def _fail(message: str, exit_code: int) -> int:
    print(f"{_NAME}: {' '.join(message.split())}", file=sys.stderr)  # noqa: T201 - the command line speaks
    return exit_code
