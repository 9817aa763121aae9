"""The tables. What is true for ever is a constraint here, not a check in Python.

Branded ids sort by their bytes (``COLLATE "C"`` on PostgreSQL, SQLite's default), so their order is mint order.
Emoji codes are kept in one column, a space between them. Times are ms since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.types import TypeDecorator

from engine.game.model import PLAN_NAME_LENGTH, CloseReason, RoundState, Switch
from engine.game.scoring import WINNING_TOTAL

_ID_LENGTH: Final = 14
_WORD_LENGTH: Final = 16

UPDATE_NAME_LENGTH: Final = 80
ID: Final = String(_ID_LENGTH).with_variant(String(_ID_LENGTH, collation="C"), "postgresql")
UNSETTLED: Final = f"state <> '{RoundState.SETTLED}'"
UNSENT: Final = "sent_ms IS NULL AND dropped_ms IS NULL"
PLANNED: Final = "plan IS NOT NULL"

metadata: Final = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


class Codes(TypeDecorator[tuple[str, ...]]):
    """Emoji codes in order."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Iterable[str] | None, dialect: Dialect) -> str | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Join; a code that could not be told apart again is refused."""
        if value is None:
            return None
        codes = tuple(value)
        joined = " ".join(codes)
        if tuple(joined.split()) != codes:
            raise ValueError("an emoji code must be a word without spaces")
        return joined

    def process_result_value(self, value: str | None, dialect: Dialect) -> tuple[str, ...] | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Split."""
        return None if value is None else tuple(value.split())


def _one_of(column: str, words: type[StrEnum]) -> CheckConstraint:
    known = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({known})", name=f"{column}_known")


def _positive(*columns: str) -> list[CheckConstraint]:
    return [CheckConstraint(f"{column} >= 1", name=f"{column}_positive") for column in columns]


def _id(name: str, references: str | None = None, *, nullable: bool = False) -> Column[Any]:
    target = () if references is None else (ForeignKey(references),)
    return Column(name, ID, *target, nullable=nullable)


def _flag(name: str) -> Column[Any]:
    # With a default, for as long as an older version of the program writes rows too.
    return Column(name, Boolean, nullable=False, server_default=false())


def _big(name: str, *, nullable: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=nullable)


# A row with ``moved_to`` is a former number of that chat; it leads there and nowhere further.
chats: Final = Table(
    "chats",
    metadata,
    _id("id"),
    _big("chat_ref"),
    Column("private", Boolean, nullable=False),
    Column("title", Text, nullable=False),
    _flag("away"),
    _id("moved_to", "chats.id", nullable=True),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("chat_ref"),
)

# Its columns are those of ``engine.game.model.LeverSet``; NULL says nothing.
plans: Final = Table(
    "plans",
    metadata,
    Column("name", String(PLAN_NAME_LENGTH), nullable=False),
    Column("weight", Integer),
    Column("ceiling", Integer),
    Column("cap", Integer),
    Column("lane_cap", Integer),
    PrimaryKeyConstraint("name"),
    *_positive("weight", "ceiling", "cap", "lane_cap"),
)

# A row stands here while its switch is on.
switches: Final = Table(
    "switches",
    metadata,
    Column("name", String(_WORD_LENGTH), nullable=False),
    _big("since_ms"),
    PrimaryKeyConstraint("name"),
    _one_of("name", Switch),
)

rooms: Final = Table(
    "rooms",
    metadata,
    _id("id"),
    _id("chat", "chats.id"),
    _big("thread"),
    Column("paused", Boolean, nullable=False),
    Column("ceiling", Integer),
    Column("chat_limit", Integer),
    Column("weight", Integer),
    Column("cap", Integer),
    Column("lane_cap", Integer),
    Column("plan", String(PLAN_NAME_LENGTH), ForeignKey("plans.name")),
    _big("held_until_ms", nullable=True),
    _flag("away"),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("chat", "thread"),
    *_positive("ceiling", "chat_limit", "weight", "cap", "lane_cap"),
    Index("ix_rooms_plan", "plan", postgresql_where=text(PLANNED), sqlite_where=text(PLANNED)),
)

players: Final = Table(
    "players",
    metadata,
    _id("id"),
    _big("account_ref"),
    Column("name", Text, nullable=False),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("account_ref"),
)

rounds: Final = Table(
    "rounds",
    metadata,
    _id("id"),
    _id("room", "rooms.id"),
    Column("number", Integer, nullable=False),
    Column("theme", Text, nullable=False),
    Column("keyboard", Codes, nullable=False),
    Column("secret", Codes, nullable=False),
    Column("nonce", String(32), nullable=False),
    Column("commitment", String(64), nullable=False),
    Column("state", String(_WORD_LENGTH), nullable=False),
    _big("opened_ms"),
    Column("minutes", Integer, nullable=False),
    _big("deadline_ms", nullable=True),
    _big("remaining_ms", nullable=True),
    _big("closing_seq", nullable=True),
    Column("close_reason", String(_WORD_LENGTH)),
    _id("winner", "players.id", nullable=True),
    _big("settled_ms", nullable=True),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("room", "number"),
    _one_of("state", RoundState),
    _one_of("close_reason", CloseReason),
    CheckConstraint("state <> 'open' OR (deadline_ms IS NULL) <> (remaining_ms IS NULL)", name="open_has_one_clock"),
    CheckConstraint(
        "(state = 'open') = (closing_seq IS NULL) AND (state = 'open') = (close_reason IS NULL)", name="closed_says_why"
    ),
    CheckConstraint("(state = 'settled') = (settled_ms IS NOT NULL)", name="settled_says_when"),
    CheckConstraint("winner IS NULL OR state = 'settled'", name="winner_is_settled"),
    Index(
        "uq_rounds_room_unsettled",
        "room",
        unique=True,
        postgresql_where=text(UNSETTLED),
        sqlite_where=text(UNSETTLED),
    ),
)

# The job's own id is the key: one id leads from the message's receipt through lanes and logs to the row.
guesses: Final = Table(
    "guesses",
    metadata,
    _id("job"),
    _id("round", "rounds.id"),
    _id("player", "players.id"),
    Column("codes", Codes, nullable=False),
    Column("total", Integer, nullable=False),
    _big("seq"),
    Column("counted", Boolean, nullable=False),
    _big("chat_ref"),
    _big("message_ref"),
    _big("accepted_ms"),
    PrimaryKeyConstraint("job"),
    UniqueConstraint("chat_ref", "message_ref"),
    CheckConstraint(f"total BETWEEN 0 AND {WINNING_TOTAL}", name="total_possible"),
)

standings: Final = Table(
    "standings",
    metadata,
    _id("round", "rounds.id"),
    _id("player", "players.id"),
    Column("best_total", Integer, nullable=False),
    _big("best_seq"),
    Column("guesses", Integer, nullable=False),
    PrimaryKeyConstraint("round", "player"),
)

memberships: Final = Table(
    "memberships",
    metadata,
    _id("room", "rooms.id"),
    _id("player", "players.id"),
    Column("guesses", Integer, nullable=False),
    Column("best_total", Integer, nullable=False),
    Column("wins", Integer, nullable=False),
    PrimaryKeyConstraint("room", "player"),
)

inbox: Final = Table(
    "inbox",
    metadata,
    _big("chat_ref"),
    _big("message_ref"),
    _big("taken_ms"),
    PrimaryKeyConstraint("chat_ref", "message_ref"),
    Index("ix_inbox_taken_ms", "taken_ms"),
)

# Updates of Telegram that failed by themselves. The body is kept once one is set aside, and goes with the row.
aside: Final = Table(
    "aside",
    metadata,
    Column("name", String(UPDATE_NAME_LENGTH), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("error", String(64), nullable=False),
    Column("attempts", Integer, nullable=False),
    _big("first_ms"),
    _big("last_ms"),
    _big("aside_ms", nullable=True),
    Column("body", Text),
    PrimaryKeyConstraint("name"),
    *_positive("attempts"),
    CheckConstraint("(aside_ms IS NULL) = (body IS NULL)", name="kept_once_aside"),
    Index("ix_aside_last_ms", "last_ms"),
)

outbox: Final = Table(
    "outbox",
    metadata,
    _id("id"),
    _id("chat", "chats.id"),
    _big("thread"),
    Column("kind", String(32), nullable=False),
    Column("body", Text, nullable=False),
    _big("reply_to", nullable=True),
    _big("created_ms"),
    _big("sent_ms", nullable=True),
    _big("dropped_ms", nullable=True),
    Column("drop_reason", Text),
    _big("reply_chat_ref", nullable=True),
    PrimaryKeyConstraint("id"),
    CheckConstraint("sent_ms IS NULL OR dropped_ms IS NULL", name="one_end"),
    CheckConstraint("(dropped_ms IS NULL) = (drop_reason IS NULL)", name="dropped_says_why"),
    Index("ix_outbox_unsent", "id", postgresql_where=text(UNSENT), sqlite_where=text(UNSENT)),
)
