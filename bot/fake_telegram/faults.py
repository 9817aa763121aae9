"""Faults on schedule: what goes wrong with which calls, how often or from when to when."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from bot.fake_telegram.calls import Call
from bot.fake_telegram.world import Chat


class Moment(StrEnum):
    """When a fault strikes: before anything is done, or once the message is stored."""

    BEFORE = "before"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Answer:
    """Nothing is done; the call is answered with this code. A ``retry_after_s`` is obeyed or noted."""

    status: int
    description: str
    retry_after_s: int | None = None
    as_html: bool = False
    """As a gateway answers that is no Bot API."""


@dataclass(frozen=True, slots=True)
class Stall:
    """No answer for ``for_ms``; then the connection is closed without one."""

    for_ms: int
    moment: Moment


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset instead of an answer."""

    moment: Moment


@dataclass(frozen=True, slots=True)
class Slow:
    """Everything happens as it should, ``by_ms`` late."""

    by_ms: int


Fault = Answer | Stall | Reset | Slow


def flood(retry_after_s: int) -> Answer:
    """429, to be asked again after as many seconds."""
    return Answer(429, f"Too Many Requests: retry after {retry_after_s}", retry_after_s)


def refusal(words: str) -> Answer:
    """400."""
    return Answer(400, f"Bad Request: {words}")


def broken(status: int = 502, words: str = "Bad Gateway", *, as_html: bool = False) -> Answer:
    """5xx."""
    return Answer(status, words, as_html=as_html)


@dataclass(slots=True, eq=False)
class Planned:
    """One line of the schedule; None: whatever."""

    fault: Fault
    method: str | None
    chat: Chat | None
    times: int | None
    from_ms: int | None
    until_ms: int | None
    struck: int = 0

    def fits(self, call: Call) -> bool:
        """Whether it is about ``call``, by who calls what and when."""
        return (
            (self.times is None or self.struck < self.times)
            and (self.method is None or self.method.lower() == call.method.lower())
            and (self.chat is None or self.chat.id == call.chat_id)
            and (self.from_ms is None or call.at_ms >= self.from_ms)
            and (self.until_ms is None or call.at_ms < self.until_ms)
        )


@dataclass(slots=True)
class Faults:
    """The schedule. Of lines that fit, the first planned one strikes."""

    _planned: list[Planned] = field(default_factory=list)

    def plan(
        self,
        fault: Fault,
        method: str | None = None,
        *,
        chat: Chat | None = None,
        times: int | None = 1,
        from_ms: int | None = None,
        until_ms: int | None = None,
    ) -> Planned:
        """Have ``fault`` strike.

        Args:
            fault: what happens.
            method: which calls, in any case; None: all.
            chat: calls about this one; None: all.
            times: how often; None: until it is called off.
            from_ms: not before (monotonic).
            until_ms: not after (monotonic).
        """
        planned = Planned(fault, method, chat, times, from_ms, until_ms)
        self._planned.append(planned)
        return planned

    def call_off(self, planned: Planned | None = None) -> None:
        """Take back one line; None: all."""
        self._planned = [] if planned is None else [it for it in self._planned if it is not planned]

    def strike(self, call: Call) -> Fault | None:
        """What happens to ``call``; counts it."""
        for planned in self._planned:
            if planned.fits(call):
                planned.struck += 1
                return planned.fault
        return None
