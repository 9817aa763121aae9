"""What stops the program, each in one line that says what is wrong and what to do.

Errors::

    Exception
    └── ProgramError              exit code 1
        ├── UsageProblem          exit code 2: it was called or set up wrong
        │   ├── BadSettings       a value in the environment
        │   ├── BadScript         a script that can't be read, or a line of it
        │   ├── TokenMissing      nothing to speak to Telegram with
        │   ├── AddressMissing    a process that shares its servers is told of none
        │   └── NotConfirmed      what deletes something was not confirmed
        ├── TokenRefused          Telegram doesn't know the token
        ├── BenchmarksMissing     there is no checkout to measure
        ├── RedisUnusable         not there, too old, or the wrong password
        ├── ServerGone            the embedded server ended under our feet
        ├── ListenUnusable        the address for posts and questions can't be had
        ├── OutputUnusable        what the chat shows can't be written
        ├── NothingRuns           an operator's command finds no running program
        ├── Drifted               an audit found what does not agree
        └── NothingAnswered       a script waits in vain

What the database and the embedded server have to say comes from ``engine.store.errors`` and ``bot.embedded``, which
write such lines themselves.
"""

from __future__ import annotations

from typing import ClassVar


class ProgramError(Exception):
    """The program can't go on. The message is one line, names no secret, and ends with what to do."""

    exit_code: ClassVar[int] = 1

    def __str__(self) -> str:
        """The message in one line, whatever it was made from."""
        return " ".join(super().__str__().split())


class UsageProblem(ProgramError):  # noqa: N818 - reads as what it is
    """The program was called or set up wrong."""

    exit_code: ClassVar[int] = 2


class BadSettings(UsageProblem):
    """A value in the environment can't be used."""


class BadScript(UsageProblem):
    """A script can't be read, or a line of it is no message."""


class TokenMissing(UsageProblem):
    """There is no token to speak to Telegram with."""


class AddressMissing(UsageProblem):
    """A process that shares its servers with others is told of none."""


class NotConfirmed(UsageProblem):
    """What deletes something was not confirmed."""


class TokenRefused(ProgramError):  # noqa: N818 - reads as what happened
    """Telegram doesn't know the token."""

    def __init__(self) -> None:
        super().__init__(
            "Telegram doesn't know the token in TELEGRAM_TOKEN; copy it again, or take a new one from @BotFather"
        )


class BenchmarksMissing(ProgramError):  # noqa: N818 - reads as what it is
    """There is no checkout with benchmarks, or not what they need."""


class RedisUnusable(ProgramError):  # noqa: N818 - reads as what it is
    """The Redis or Valkey server is not there, too old, or refuses us."""


class ServerGone(ProgramError):  # noqa: N818 - reads as what happened
    """The embedded server ended while it was needed."""


class ListenUnusable(ProgramError):  # noqa: N818 - reads as what it is
    """The address where posts and questions are to come can't be had."""


class OutputUnusable(ProgramError):  # noqa: N818 - reads as what it is
    """What the terminal's chat shows can't be written."""


class NothingRuns(ProgramError):  # noqa: N818 - reads as what it is
    """An operator's command finds no running program to speak to."""


class Drifted(ProgramError):  # noqa: N818 - reads as what happened
    """An audit found what does not agree, and was not asked to mend it."""


class NothingAnswered(ProgramError):  # noqa: N818 - reads as what happened
    """A script waited in vain for an answer."""
