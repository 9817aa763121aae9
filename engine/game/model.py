"""The game's nouns: rooms, players, rounds, guesses. Values only; every id is branded, every time is in ms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from engine.ids import ChatId, JobId, PlayerId, RoomId, RoundId

SECRET_LENGTH: Final = 6
KEYBOARD_SIZE: Final = 16
MIN_MINUTES: Final = 1
MAX_MINUTES: Final = 24 * 60
MAX_LEVER: Final = 1_000_000_000
PLAN_NAME_LENGTH: Final = 32


class RoundState(StrEnum):
    """Where a round is: ``open`` takes guesses, ``closing`` waits for those already accepted, ``settled`` is told."""

    OPEN = "open"
    CLOSING = "closing"
    SETTLED = "settled"


class Switch(StrEnum):
    """What operators turn on for the whole game."""

    PAUSE_ALL = "pause_all"
    """No guess of any room is scored; they still come in, and clocks go on."""


class CloseReason(StrEnum):
    """Why a round stopped taking guesses."""

    CRACKED = "cracked"
    EXPIRED = "expired"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Source:
    """The message a request came in: the outer world's own numbers, unique together."""

    chat_ref: int
    message_ref: int

    def __str__(self) -> str:
        return f"{self.chat_ref}:{self.message_ref}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a room lives in the outer world: a chat, and a topic inside it (0 = none)."""

    chat_ref: int
    thread: int
    title: str
    private: bool


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat by the number that the outer world knows it by.

    ``moved``: that is a former number, which leads to another chat. ``away``: the bot can't speak to it.
    """

    id: ChatId
    chat_ref: int
    moved: bool
    away: bool


@dataclass(frozen=True, slots=True)
class Account:
    """Who sent a message, in the outer world: its number, and the name it shows today."""

    account_ref: int
    name: str


@dataclass(frozen=True, slots=True)
class LeverSet:
    """What an operator may set for a room, each a whole number from 1 up; None says nothing.

    ``weight``: guesses a visit of the rota is worth. ``ceiling``: most guesses in flight at once. ``cap`` and
    ``lane_cap``: most guesses that the room, and each player in it, may have waiting.
    """

    weight: int | None = None
    ceiling: int | None = None
    cap: int | None = None
    lane_cap: int | None = None

    def over(self, other: LeverSet) -> LeverSet:
        """These levers, and where they say nothing, those of ``other``."""
        return LeverSet(
            weight=other.weight if self.weight is None else self.weight,
            ceiling=other.ceiling if self.ceiling is None else self.ceiling,
            cap=other.cap if self.cap is None else self.cap,
            lane_cap=other.lane_cap if self.lane_cap is None else self.lane_cap,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """A named set of levers that operators give to rooms."""

    name: str
    levers: LeverSet


@dataclass(frozen=True, slots=True)
class Room:
    """A room with its levers as they stand in SQL.

    ``plan`` and ``own`` are an operator's: what is set for this one room wins over its plan. ``chat_limit`` is what
    the chat's own admins asked for, and only ever lowers the ceiling. ``held_until_ms`` is when a hold ends. ``away``:
    it is paused, and that only because the bot can't speak to it.
    """

    id: RoomId
    chat: ChatId
    chat_ref: int
    thread: int
    private: bool
    paused: bool
    plan: Plan | None
    own: LeverSet
    chat_limit: int | None
    held_until_ms: int | None
    away: bool = False

    def allowed(self, default_ceiling: int) -> int:
        """The highest ceiling that the operator allows this room."""
        ceiling = self._given().ceiling
        return default_ceiling if ceiling is None else ceiling

    def in_force(self, default_ceiling: int) -> LeverSet:
        """The levers in force: a ceiling and a weight there always are, caps only where somebody set them."""
        given = self._given()
        allowed = self.allowed(default_ceiling)
        return replace(
            given,
            weight=self.weight,
            ceiling=allowed if self.chat_limit is None else min(allowed, self.chat_limit),
        )

    @property
    def weight(self) -> int:
        """The weight in force."""
        return self._given().weight or 1

    def _given(self) -> LeverSet:
        return self.own if self.plan is None else self.own.over(self.plan.levers)


@dataclass(frozen=True, slots=True)
class Player:
    """A player; ``name`` is as hostile as its owner made it and is escaped where it is shown."""

    id: PlayerId
    account_ref: int
    name: str


@dataclass(frozen=True, slots=True)
class Round:
    """A round of one room. ``secret`` and ``keyboard`` are emoji codes of ``theme``.

    ``deadline_ms`` is None while the room is paused; then ``remaining_ms`` holds what the clock still had.
    ``closing_seq`` is the last seq that counts, once the round is closing.
    """

    id: RoundId
    room: RoomId
    number: int
    theme: str
    keyboard: tuple[str, ...]
    secret: tuple[str, ...]
    nonce: str
    commitment: str
    state: RoundState
    opened_ms: int
    minutes: int
    deadline_ms: int | None
    remaining_ms: int | None = None
    closing_seq: int | None = None
    close_reason: CloseReason | None = None
    winner: PlayerId | None = None
    settled_ms: int | None = None

    def __repr__(self) -> str:
        """Keep the secret and the nonce out of logs and tracebacks."""
        return f"Round(id={self.id!r}, room={self.room!r}, number={self.number}, state={self.state.value!r})"


@dataclass(frozen=True, slots=True)
class Scene:
    """What a guess is read against: the room at a place, its open or closing round, and the player who guesses.

    The player is None also where the account shows another name today.
    """

    room: Room | None
    round: Round | None
    player: Player | None


@dataclass(frozen=True, slots=True)
class ScoredGuess:
    """A guess with its score, as it becomes a row. ``seq`` is its place in the order of admission."""

    job: JobId
    round: RoundId
    room: RoomId
    player: PlayerId
    codes: tuple[str, ...]
    total: int
    seq: int
    counted: bool
    source: Source
    accepted_ms: int


@dataclass(frozen=True, slots=True)
class Standing:
    """One player's line of a round: best total, the seq that first reached it, and how many guesses count."""

    player: PlayerId
    best_total: int
    best_seq: int
    guesses: int


@dataclass(frozen=True, slots=True)
class Membership:
    """A player's record in one room over all its settled rounds, and the guesses of all rounds."""

    player: PlayerId
    guesses: int
    best_total: int
    wins: int
