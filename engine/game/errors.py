"""What the rules refuse.

::

    LookupError
    ├── UnknownTheme   no theme has that name
    └── UnknownEmoji   the theme has no such emoji, or no such code
    Exception
    └── RoomFull       (ports) the room's cap is reached
"""

from __future__ import annotations

from collections.abc import Sequence

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
