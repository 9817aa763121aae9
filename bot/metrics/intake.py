"""What becomes of updates, of the webhook's posts, and of the messages in them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Final

from prometheus_client.core import Metric
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.metrics.instruments import Counts, Spread
from bot.taking import Outcome
from engine.game.notices import Refusal

_POST_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
_USUAL: Final = ("200", "503")
_NONE: Final = "none"


class GameMeter:
    """An ``engine.game.observing.Observer`` that counts."""

    def __init__(self) -> None:
        self._guesses = Counts(
            "codemojex_guesses",
            "Guesses that came to their lanes: accepted, or a duplicate of one that did before.",
            ("outcome",),
            [("accepted",), ("duplicate",)],
        )
        self._refusals = Counts(
            "codemojex_refusals",
            "Messages that were not taken, by reason; room_full is a QueueFull of the room's lanes.",
            ("reason",),
            [(reason.value,) for reason in Refusal],
        )

    def guessed(self, *, new: bool) -> None:
        """A guess is safe on its lane."""
        self._guesses.add("accepted" if new else "duplicate")

    def refused(self, reason: Refusal) -> None:
        """A message was not taken."""
        self._refusals.add(reason.value)

    def families(self) -> Iterator[Metric]:
        """See `Meter`."""
        yield self._guesses.family()
        yield self._refusals.family()


class UpdateMeter:
    """Counts updates, however they came."""

    def __init__(self) -> None:
        self._updates = Counts(
            "codemojex_updates",
            "Tries of updates: received, set_aside, or not_yet where it comes again.",
            ("outcome",),
            [(_worded(outcome),) for outcome in Outcome],
        )

    def took(self, outcome: Outcome) -> None:
        """An update was tried."""
        self._updates.add(_worded(outcome))

    def families(self) -> Iterator[Metric]:
        """See `Meter`."""
        yield self._updates.family()


class PostMeter:
    """Counts the posts that come in by webhook, and how long each took."""

    def __init__(self) -> None:
        self._posts = Counts(
            "codemojex_posts",
            f"Posts by the status of their answer; {_NONE} where the other side hung up first.",
            ("status",),
            [(status,) for status in _USUAL],
        )
        self._seconds = Spread(
            "codemojex_post_seconds", "How long posts took from their head to their answer, in seconds.", _POST_S
        )

    def around(self, app: ASGIApp) -> ASGIApp:
        """``app``, with each of its answers counted."""
        return _Counted(app, self)

    def answered(self, status: str, took_s: float) -> None:
        """A post had its answer."""
        self._posts.add(status)
        self._seconds.add(took_s)

    def families(self) -> Iterator[Metric]:
        """See `Meter`."""
        yield self._posts.family()
        yield self._seconds.family()


class _Counted:
    """An ASGI application around another. An object: a route takes a plain function for something else."""

    def __init__(self, app: ASGIApp, meter: PostMeter) -> None:
        self._app = app
        self._meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun_s = time.perf_counter()
        status = _NONE

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, sent)
        finally:
            self._meter.answered(status, time.perf_counter() - begun_s)


def _worded(outcome: Outcome) -> str:
    return outcome.value.replace(" ", "_")
