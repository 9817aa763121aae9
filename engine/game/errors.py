"""What the rules refuse.

::

    LookupError
    ├── UnknownTheme         no theme has that name
    └── UnknownEmoji         the theme has no such emoji, or no such code
    Exception
    ├── RoomFull             (ports) the room's cap is reached
    └── OperationRefused     what an operator asked for can't be done; nothing was changed
        ├── UnknownRoom      no room has that id
        ├── UnknownPlayer    no player has that id
        ├── UnknownPlan      no plan has that name
        ├── UnknownGuess     no guess of that id is on the lanes
        ├── BadPlanName      a plan can't be called that
        ├── BadLever         a lever has no such number
        ├── RoundCloses      a room whose round is closing can't be paused
        └── GuessElsewhere   a guess can't leave its room
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.game.model import MAX_LEVER, PLAN_NAME_LENGTH

_SHOWN_CHARACTERS = 40


class UnknownTheme(LookupError):  # noqa: N818 - reads as the event it is
    """No theme has that name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        self.known = tuple(known)
        super().__init__(f"no theme is called {name[:_SHOWN_CHARACTERS]!a}; choose one of {', '.join(known)}")


class UnknownEmoji(LookupError):  # noqa: N818 - reads as the event it is
    """The theme has no such emoji, or no such code."""

    def __init__(self, wanted: str, theme: str) -> None:
        self.wanted = wanted
        self.theme = theme
        super().__init__(
            f"theme {theme} has no {wanted[:_SHOWN_CHARACTERS]!a}; a published theme never loses an emoji, "
            "so check which theme the round was drawn from"
        )


class OperationRefused(Exception):  # noqa: N818 - reads as the event it is
    """What an operator asked for can't be done; nothing was changed."""


class UnknownRoom(OperationRefused):
    """No room has that id."""

    def __init__(self, room: str) -> None:
        self.room = room
        super().__init__(f"no room is called {room}; `codemojex lanes rooms` lists them")


class UnknownPlayer(OperationRefused):
    """No player has that id."""

    def __init__(self, player: str) -> None:
        self.player = player
        super().__init__(f"no player is called {player}; check the id")


class UnknownPlan(OperationRefused):
    """No plan has that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"no plan is called {name[:_SHOWN_CHARACTERS]!a}; `codemojex lanes plans` lists them")


class UnknownGuess(OperationRefused):
    """No guess of that id is on the lanes."""

    def __init__(self, job: str) -> None:
        self.job = job
        super().__init__(f"no guess {job} is on the lanes; it may have been scored meanwhile")


class BadPlanName(OperationRefused):
    """A plan can't be called that."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(
            f"a plan can't be called {name[:_SHOWN_CHARACTERS]!a}; "
            f"use 1 to {PLAN_NAME_LENGTH} of a-z, 0-9 and dashes, beginning with a letter"
        )


class BadLever(OperationRefused):
    """A lever has no such number."""

    def __init__(self, lever: str, value: int, most: int = MAX_LEVER) -> None:
        self.lever = lever
        self.value = value
        self.most = most
        super().__init__(f"{lever} must be a whole number from 1 to {most}, got {value}; none takes it back")


class RoundCloses(OperationRefused):
    """A room whose round is closing can't be paused."""

    def __init__(self, room: str) -> None:
        self.room = room
        super().__init__(
            f"the round of room {room} is closing and can't be paused; it is settled in a moment, try again"
        )


class GuessElsewhere(OperationRefused):
    """A guess can't leave its room: it was made in that room's round."""

    def __init__(self, job: str, room: str) -> None:
        self.job = job
        self.room = room
        super().__init__(f"guess {job} was made in a round of room {room} and can't leave it; name that room")
