"""What the game has to say, as values: the bot finds the words, the outbox keeps them until they are said.

A notice names players by id; whoever says it looks their names up. None carries an open round's secret, and
none carries what another player guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from engine.game.model import CloseReason, RoundState
from engine.ids import PlayerId, RoundId


class Refusal(StrEnum):
    """Why a message was not taken. Each has its own sentence in the bot's texts."""

    WRONG_COUNT = "wrong_count"
    UNKNOWN_EMOJI = "unknown_emoji"
    TOO_LONG = "too_long"
    NO_ROUND = "no_round"
    ROUND_CLOSING = "round_closing"
    ROUND_RUNNING = "round_running"
    ROOM_PAUSED = "room_paused"
    NOT_PAUSED = "not_paused"
    ALREADY_PAUSED = "already_paused"
    CANNOT_PAUSE_CLOSING = "cannot_pause_closing"
    ROOM_FULL = "room_full"
    NOT_ADMIN = "not_admin"
    ANONYMOUS = "anonymous"
    UNKNOWN_THEME = "unknown_theme"
    BAD_MINUTES = "bad_minutes"
    BAD_LIMIT = "bad_limit"
    LIMIT_ABOVE_ALLOWED = "limit_above_allowed"


class Page(StrEnum):
    """A page of the bot that depends on nothing but its name."""

    START = "start"
    HELP = "help"
    RULES = "rules"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the standings."""

    rank: int
    player: PlayerId
    best_total: int
    percent: int
    guesses: int


@dataclass(frozen=True, slots=True)
class Answer:
    """How close a guess came. ``counted`` is False where the round was over before the guess's turn."""

    player: PlayerId
    total: int
    percent: int
    counted: bool
    kind: Literal["answer"] = "answer"

    def players(self) -> tuple[PlayerId, ...]:
        """Whose names it shows."""
        return (self.player,)


@dataclass(frozen=True, slots=True)
class RoundOpened:
    """A round began: its keyboard (emoji codes of ``theme``) and the commitment to its secret."""

    round: RoundId
    number: int
    theme: str
    keyboard: tuple[str, ...]
    commitment: str
    minutes: int
    kind: Literal["round_opened"] = "round_opened"

    def players(self) -> tuple[PlayerId, ...]:
        """Whose names it shows."""
        return ()


@dataclass(frozen=True, slots=True)
class RoundRevealed:
    """A settled round: secret, nonce, winner and final standings. Made only once the round is settled."""

    round: RoundId
    number: int
    theme: str
    reason: CloseReason
    winner: PlayerId | None
    secret: tuple[str, ...]
    nonce: str
    commitment: str
    lines: tuple[Line, ...]
    kind: Literal["round_revealed"] = "round_revealed"

    def players(self) -> tuple[PlayerId, ...]:
        """Whose names it shows."""
        winner = () if self.winner is None else (self.winner,)
        return (*winner, *(line.player for line in self.lines))


@dataclass(frozen=True, slots=True)
class Board:
    """The standings of the room's newest round. ``remaining_ms`` is None once the round is over."""

    number: int
    theme: str
    keyboard: tuple[str, ...]
    state: RoundState
    paused: bool
    remaining_ms: int | None
    lines: tuple[Line, ...]
    players_total: int
    guesses_total: int
    kind: Literal["board"] = "board"

    def players(self) -> tuple[PlayerId, ...]:
        """Whose names it shows."""
        return tuple(line.player for line in self.lines)


@dataclass(frozen=True, slots=True)
class Profile:
    """One player's own record: in the newest round (``line`` is None before a first guess) and in the room."""

    player: PlayerId
    line: Line | None
    players_total: int
    room_guesses: int
    room_best_total: int
    room_wins: int
    kind: Literal["profile"] = "profile"

    def players(self) -> tuple[PlayerId, ...]:
        """Whose names it shows."""
        return (self.player,)


@dataclass(frozen=True, slots=True)
class Refused:
    """A message that was not taken, and why.

    Only the fields that the reason speaks of are set: ``got`` and ``wanted`` are counts or limits, ``words`` are
    names (of themes, say), ``eta_ms`` is when it is worth trying again. ``player`` is who is answered, where that is
    a player.
    """

    reason: Refusal
    got: int | None = None
    wanted: int | None = None
    words: tuple[str, ...] = ()
    eta_ms: int | None = None
    player: PlayerId | None = None
    kind: Literal["refused"] = "refused"

    def players(self) -> tuple[PlayerId, ...]:
        """Whose names it shows."""
        return () if self.player is None else (self.player,)


@dataclass(frozen=True, slots=True)
class LeverPulled:
    """An admin paused or resumed the room, or set its limit (``limit`` in jobs in flight)."""

    lever: Literal["pause", "resume", "limit"]
    limit: int | None = None
    waiting: int = 0
    kind: Literal["lever_pulled"] = "lever_pulled"

    def players(self) -> tuple[PlayerId, ...]:
        """Whose names it shows."""
        return ()


@dataclass(frozen=True, slots=True)
class PageShown:
    """A page of the bot: start, help or rules."""

    page: Page
    kind: Literal["page_shown"] = "page_shown"

    def players(self) -> tuple[PlayerId, ...]:
        """Whose names it shows."""
        return ()


Notice = Answer | RoundOpened | RoundRevealed | Board | Profile | Refused | LeverPulled | PageShown
