"""Chats, rooms, players, rounds, guesses, standings, memberships, inbox and outbox.

Revision: 0001, after nothing.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ID = sa.String(length=14).with_variant(sa.String(length=14, collation="C"), "postgresql")


def upgrade() -> None:
    _chats()
    _rooms()
    _players()
    _rounds()
    _guesses()
    _standings()
    _memberships()
    _inbox()
    _outbox()


def downgrade() -> None:
    op.drop_table("outbox")
    op.drop_table("inbox")
    op.drop_table("memberships")
    op.drop_table("standings")
    op.drop_table("guesses")
    op.drop_table("rounds")
    op.drop_table("players")
    op.drop_table("rooms")
    op.drop_table("chats")


def _chats() -> None:
    op.create_table(
        "chats",
        sa.Column("id", ID, nullable=False),
        sa.Column("chat_ref", sa.BigInteger(), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chats")),
        sa.UniqueConstraint("chat_ref", name=op.f("uq_chats_chat_ref")),
    )


def _rooms() -> None:
    op.create_table(
        "rooms",
        sa.Column("id", ID, nullable=False),
        sa.Column("chat", ID, nullable=False),
        sa.Column("thread", sa.BigInteger(), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("ceiling", sa.Integer(), nullable=True),
        sa.Column("chat_limit", sa.Integer(), nullable=True),
        sa.CheckConstraint("ceiling >= 1", name=op.f("ck_rooms_ceiling_positive")),
        sa.CheckConstraint("chat_limit >= 1", name=op.f("ck_rooms_chat_limit_positive")),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_rooms_chat")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rooms")),
        sa.UniqueConstraint("chat", "thread", name=op.f("uq_rooms_chat_thread")),
    )


def _players() -> None:
    op.create_table(
        "players",
        sa.Column("id", ID, nullable=False),
        sa.Column("account_ref", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_players")),
        sa.UniqueConstraint("account_ref", name=op.f("uq_players_account_ref")),
    )


def _rounds() -> None:
    op.create_table(
        "rounds",
        sa.Column("id", ID, nullable=False),
        sa.Column("room", ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("theme", sa.Text(), nullable=False),
        sa.Column("keyboard", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("nonce", sa.String(length=32), nullable=False),
        sa.Column("commitment", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("opened_ms", sa.BigInteger(), nullable=False),
        sa.Column("minutes", sa.Integer(), nullable=False),
        sa.Column("deadline_ms", sa.BigInteger(), nullable=True),
        sa.Column("remaining_ms", sa.BigInteger(), nullable=True),
        sa.Column("closing_seq", sa.BigInteger(), nullable=True),
        sa.Column("close_reason", sa.String(length=16), nullable=True),
        sa.Column("winner", ID, nullable=True),
        sa.Column("settled_ms", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "(state = 'open') = (closing_seq IS NULL) AND (state = 'open') = (close_reason IS NULL)",
            name=op.f("ck_rounds_closed_says_why"),
        ),
        sa.CheckConstraint("(state = 'settled') = (settled_ms IS NOT NULL)", name=op.f("ck_rounds_settled_says_when")),
        sa.CheckConstraint(
            "close_reason IN ('cracked', 'expired', 'ended')", name=op.f("ck_rounds_close_reason_known")
        ),
        sa.CheckConstraint(
            "state <> 'open' OR (deadline_ms IS NULL) <> (remaining_ms IS NULL)",
            name=op.f("ck_rounds_open_has_one_clock"),
        ),
        sa.CheckConstraint("state IN ('open', 'closing', 'settled')", name=op.f("ck_rounds_state_known")),
        sa.CheckConstraint("winner IS NULL OR state = 'settled'", name=op.f("ck_rounds_winner_is_settled")),
        sa.ForeignKeyConstraint(["room"], ["rooms.id"], name=op.f("fk_rounds_room")),
        sa.ForeignKeyConstraint(["winner"], ["players.id"], name=op.f("fk_rounds_winner")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rounds")),
        sa.UniqueConstraint("room", "number", name=op.f("uq_rounds_room_number")),
    )
    op.create_index(
        "uq_rounds_room_unsettled",
        "rounds",
        ["room"],
        unique=True,
        postgresql_where=sa.text("state <> 'settled'"),
        sqlite_where=sa.text("state <> 'settled'"),
    )


def _guesses() -> None:
    op.create_table(
        "guesses",
        sa.Column("job", ID, nullable=False),
        sa.Column("round", ID, nullable=False),
        sa.Column("player", ID, nullable=False),
        sa.Column("codes", sa.Text(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.Column("chat_ref", sa.BigInteger(), nullable=False),
        sa.Column("message_ref", sa.BigInteger(), nullable=False),
        sa.Column("accepted_ms", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("total BETWEEN 0 AND 600", name=op.f("ck_guesses_total_possible")),
        sa.ForeignKeyConstraint(["player"], ["players.id"], name=op.f("fk_guesses_player")),
        sa.ForeignKeyConstraint(["round"], ["rounds.id"], name=op.f("fk_guesses_round")),
        sa.PrimaryKeyConstraint("job", name=op.f("pk_guesses")),
        sa.UniqueConstraint("chat_ref", "message_ref", name=op.f("uq_guesses_chat_ref_message_ref")),
    )


def _standings() -> None:
    op.create_table(
        "standings",
        sa.Column("round", ID, nullable=False),
        sa.Column("player", ID, nullable=False),
        sa.Column("best_total", sa.Integer(), nullable=False),
        sa.Column("best_seq", sa.BigInteger(), nullable=False),
        sa.Column("guesses", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["player"], ["players.id"], name=op.f("fk_standings_player")),
        sa.ForeignKeyConstraint(["round"], ["rounds.id"], name=op.f("fk_standings_round")),
        sa.PrimaryKeyConstraint("round", "player", name=op.f("pk_standings")),
    )


def _memberships() -> None:
    op.create_table(
        "memberships",
        sa.Column("room", ID, nullable=False),
        sa.Column("player", ID, nullable=False),
        sa.Column("guesses", sa.Integer(), nullable=False),
        sa.Column("best_total", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["player"], ["players.id"], name=op.f("fk_memberships_player")),
        sa.ForeignKeyConstraint(["room"], ["rooms.id"], name=op.f("fk_memberships_room")),
        sa.PrimaryKeyConstraint("room", "player", name=op.f("pk_memberships")),
    )


def _inbox() -> None:
    op.create_table(
        "inbox",
        sa.Column("chat_ref", sa.BigInteger(), nullable=False),
        sa.Column("message_ref", sa.BigInteger(), nullable=False),
        sa.Column("taken_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("chat_ref", "message_ref", name=op.f("pk_inbox")),
    )


def _outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", ID, nullable=False),
        sa.Column("chat", ID, nullable=False),
        sa.Column("thread", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("reply_to", sa.BigInteger(), nullable=True),
        sa.Column("created_ms", sa.BigInteger(), nullable=False),
        sa.Column("sent_ms", sa.BigInteger(), nullable=True),
        sa.Column("dropped_ms", sa.BigInteger(), nullable=True),
        sa.Column("drop_reason", sa.Text(), nullable=True),
        sa.CheckConstraint("(dropped_ms IS NULL) = (drop_reason IS NULL)", name=op.f("ck_outbox_dropped_says_why")),
        sa.CheckConstraint("sent_ms IS NULL OR dropped_ms IS NULL", name=op.f("ck_outbox_one_end")),
        sa.ForeignKeyConstraint(["chat"], ["chats.id"], name=op.f("fk_outbox_chat")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
    )
    op.create_index(
        "ix_outbox_unsent",
        "outbox",
        ["id"],
        unique=False,
        postgresql_where=sa.text("sent_ms IS NULL AND dropped_ms IS NULL"),
        sqlite_where=sa.text("sent_ms IS NULL AND dropped_ms IS NULL"),
    )
