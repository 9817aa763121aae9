"""What the game needs from the world. ``engine.store`` implements the SQL half, ``engine.workers`` the lanes' half.

Every method may block on the network; none retries. The store raises its own errors, the lanes' half ``RoomFull``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from engine.game.model import (
    Account,
    CloseReason,
    Membership,
    Place,
    Player,
    Room,
    Round,
    Scene,
    ScoredGuess,
    Source,
    Standing,
)
from engine.game.notices import Notice
from engine.game.places import Chats
from engine.game.plans import Plans
from engine.game.request import Inbox
from engine.game.themes import Theme
from engine.ids import ChatId, JobId, NoticeId, PlayerId, RoomId, RoundId


class RoomFull(Exception):  # noqa: N818 - reads as the event it is
    """The room has as many guesses waiting as its cap allows."""

    def __init__(self, depth: int, cap: int, eta_ms: int) -> None:
        self.depth = depth
        self.cap = cap
        self.eta_ms = eta_ms
        super().__init__(f"{depth} guesses wait in the room, its cap is {cap}; try again in about {eta_ms} ms")


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a round starts from; keyboard and secret are emoji codes, the nonce is 32 hex characters."""

    keyboard: tuple[str, ...]
    secret: tuple[str, ...] = field(repr=False)
    nonce: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class GuessJob:
    """What rides the lane: enough to score the guess and answer it, and nothing secret."""

    round: RoundId
    codes: tuple[str, ...]
    source: Source
    accepted_ms: int


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A notice on its way to a chat. ``reply_to`` is the message it answers, if one message does."""

    id: NoticeId
    chat: ChatId
    thread: int
    notice: Notice
    reply_to: Source | None
    created_ms: int


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """An unsent notice with what is needed to say it: the chat's outer number as of now and the names it shows.

    ``reply_to`` is a message of that very chat. ``away``: the bot can't speak to it.
    """

    id: NoticeId
    chat: ChatId
    chat_ref: int
    private: bool
    thread: int
    notice: Notice
    reply_to: int | None
    names: Mapping[PlayerId, str]
    away: bool = False


class Rooms(Protocol):
    """Chats, rooms, players."""

    async def at(self, place: Place) -> Room:
        """The room at ``place``, made (with its chat) if it is new; two first comers get the same one."""

    async def find(self, place: Place) -> Room | None:
        """The room at ``place``, or None; writes nothing."""

    async def get(self, room: RoomId) -> Room | None:
        """The room, or None."""

    async def many(self, rooms: Sequence[RoomId]) -> list[Room]:
        """Those of ``rooms`` that exist."""

    async def titles(self, ids: Sequence[str]) -> dict[str, str]:
        """What the chats of these rooms (or these chats themselves) are called; unknown ids are left out."""

    async def lock(self, room: RoomId) -> Room:
        """The room as it stands, and nobody else's before this unit ends: its changes go one after another."""

    async def plays(self, player: PlayerId) -> bool:
        """Whether there is such a player."""

    async def player(self, account: Account) -> Player:
        """The player of ``account``, made if new; its name is brought up to date."""

    async def pause(self, room: RoomId, *, paused: bool, away: bool = False) -> None:
        """Write the pause lever, and whether it is only for the bot's absence."""

    async def limit(self, room: RoomId, limit: int | None) -> None:
        """Write the chat's own limit."""

    async def pulled(self) -> list[Room]:
        """Every room with a lever set or an unsettled round: what a healed Redis must hear again."""


class Rounds(Protocol):
    """Rounds and their state."""

    async def add(self, round_: Round) -> bool:
        """Open a round; False where the room already has one that is not settled."""

    async def get(self, round_: RoundId) -> Round | None:
        """The round, or None."""

    async def many(self, rounds: Sequence[RoundId]) -> dict[RoundId, Round]:
        """Those of ``rounds`` that exist."""

    async def running(self, room: RoomId) -> Round | None:
        """The room's open or closing round, or None."""

    async def newest(self, room: RoomId) -> Round | None:
        """The room's round with the highest number, whatever its state, or None."""

    async def next_number(self, room: RoomId) -> int:
        """1 for a room's first round, then one more each time."""

    async def close(self, round_: RoundId, closing_seq: int, reason: CloseReason) -> bool:
        """Open -> closing (True). On a closing round that was cracked, only lowers ``closing_seq`` (False)."""

    async def settle(self, round_: RoundId, winner: PlayerId | None, settled_ms: int) -> bool:
        """Closing -> settled; False where another closer was first."""

    async def set_clock(self, round_: RoundId, *, deadline_ms: int | None, remaining_ms: int | None) -> bool:
        """Stop or restart an open round's clock; False where the round is not open any more."""

    async def unsettled(self, due_ms: int) -> list[Round]:
        """Closing rounds, and open ones whose deadline is at or before ``due_ms``, or astray by then."""


class Guesses(Protocol):
    """Guesses, standings and memberships."""

    async def record(self, guesses: Sequence[ScoredGuess]) -> set[JobId]:
        """Insert guesses and bring standings and memberships up to date for those that are new and counted.

        Answers the job ids that are new. One that is missing was there by its job id or by its source.
        """

    async def taken(self, source: Source) -> bool:
        """Whether the message has a row: it was a guess, and was scored."""

    async def standings(self, round_: RoundId) -> list[Standing]:
        """Best total first, then the smaller seq that reached it."""

    async def winner(self, round_: RoundId, closing_seq: int) -> PlayerId | None:
        """Who holds the winning guess with the smallest seq up to ``closing_seq``."""

    async def won(self, room: RoomId, player: PlayerId) -> None:
        """Count a win in the player's membership."""

    async def membership(self, room: RoomId, player: PlayerId) -> Membership | None:
        """The player's record in the room, or None before a first guess."""


class Outbox(Protocol):
    """What must still be said."""

    async def put(self, notices: Sequence[Outgoing]) -> None:
        """Add notices; one whose id is there already is left as it is."""

    async def waiting(self, notices: Sequence[NoticeId]) -> list[tuple[NoticeId, ChatId]]:
        """Those of ``notices`` that are neither sent nor dropped."""

    async def unsent(
        self, limit: int, created_before_ms: int, after: NoticeId | None = None
    ) -> list[tuple[NoticeId, ChatId]]:
        """The first notices (by id, which is mint order) behind ``after`` that are neither sent nor dropped."""

    async def owes(self, chat: ChatId) -> bool:
        """Whether anything is still to be said to the chat."""

    async def load(self, notices: Sequence[NoticeId]) -> list[OutboxItem]:
        """Those of ``notices`` that are neither sent nor dropped, in the order asked for."""

    async def sent(self, notices: Sequence[NoticeId], sent_ms: int) -> None:
        """Mark as said."""

    async def drop(self, notices: Sequence[NoticeId], reason: str, dropped_ms: int) -> None:
        """Mark as never to be said, and why."""

    async def drop_all(self, chat: ChatId, thread: int | None, reason: str, dropped_ms: int) -> None:
        """Drop all that is still to be said to the chat, or to one thread of it."""

    async def prune(self, created_before_ms: int, limit: int) -> int:
        """Delete up to ``limit`` notices that are sent or dropped and older than that; answers how many."""


class UnitOfWork(Protocol):
    """One transaction. Leaving it without ``commit`` rolls back."""

    rooms: Rooms
    chats: Chats
    plans: Plans
    inbox: Inbox
    rounds: Rounds
    guesses: Guesses
    outbox: Outbox

    async def commit(self) -> None:
        """Make it so. Nothing is published before this returns."""


class Units(Protocol):
    """Opens units of work; each belongs to the one task that opened it."""

    async def scene(self, place: Place, account: Account | None) -> Scene:
        """Look what a guess is read against, at one moment after this was asked; writes nothing."""

    def begin(self) -> AbstractAsyncContextManager[UnitOfWork]:
        """A transaction that may write."""

    def read(self) -> AbstractAsyncContextManager[UnitOfWork]:
        """A transaction that only reads: it never waits for a writer. Committing it is an error."""


class Draw(Protocol):
    """Draws a round's keyboard, secret and nonce."""

    def draw(self, theme: Theme, number: int) -> Drawn:
        """Draw for the room's round ``number``."""


class GuessLanes(Protocol):
    """The lanes of guesses, in the game's words: group = room, lane = player."""

    async def enqueue(self, room: Room, player: PlayerId, job: JobId, guess: GuessJob) -> bool:
        """Admit a guess, stamped with the room's weight as its row says; False where its message was there before.

        Raises:
            RoomFull: the room's cap is reached.
        """

    async def knows(self, source: Source) -> bool:
        """Whether a guess of this message was admitted within a day."""

    async def pull(self, rooms: Sequence[Room]) -> None:
        """Bring the lanes' levers to what the rooms' rows say."""

    async def depth(self, room: RoomId) -> int:
        """Guesses waiting in the room."""

    async def oldest(self, room: RoomId) -> int | None:
        """Smallest seq that is not done yet, or None."""

    async def horizon(self) -> int:
        """A seq that no guess admitted so far exceeds."""

    async def memory(self) -> str:
        """A word that stays the same for as long as the lanes can have forgotten nothing."""


class RoundClock(Protocol):
    """Jobs that look after a round when its time has come."""

    async def due(self, room: RoomId, round_: RoundId, delay_ms: int) -> None:
        """Look at the round's deadline after ``delay_ms``."""

    async def settle(self, room: RoomId, round_: RoundId) -> None:
        """Settle the round as soon as every guess before its closing seq is done."""


class Relay(Protocol):
    """Hands committed notices on."""

    async def hand_over(self, notices: Sequence[tuple[NoticeId, ChatId]]) -> None:
        """Put them on the notify lanes; what fails stays in the outbox for the sweep."""
