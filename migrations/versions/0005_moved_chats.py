"""Chats that moved or that the bot is not in, replies by chat, and an index to prune the inbox by.

Revision: 0005, after 0004.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("chats") as chats:
        chats.add_column(sa.Column("away", sa.Boolean(), server_default=sa.false(), nullable=False))
        chats.add_column(sa.Column("moved_to", _id(), nullable=True))
        chats.create_foreign_key(op.f("fk_chats_moved_to"), "chats", ["moved_to"], ["id"])
    with op.batch_alter_table("rooms") as rooms:
        rooms.add_column(sa.Column("away", sa.Boolean(), server_default=sa.false(), nullable=False))
    with op.batch_alter_table("outbox") as outbox:
        outbox.add_column(sa.Column("reply_chat_ref", sa.BigInteger(), nullable=True))
    op.create_index("ix_inbox_taken_ms", "inbox", ["taken_ms"], unique=False)
    _look_at_references()


def downgrade() -> None:
    op.drop_index("ix_inbox_taken_ms", table_name="inbox")
    with op.batch_alter_table("outbox") as outbox:
        outbox.drop_column("reply_chat_ref")
    with op.batch_alter_table("rooms") as rooms:
        rooms.drop_column("away")
    with op.batch_alter_table("chats") as chats:
        chats.drop_constraint(op.f("fk_chats_moved_to"), type_="foreignkey")
        chats.drop_column("moved_to")
        chats.drop_column("away")
    _look_at_references()


def _id() -> sa.String:
    return sa.String(length=14).with_variant(sa.String(length=14, collation="C"), "postgresql")


def _look_at_references() -> None:
    """A table was rebuilt with SQLite's foreign keys off: nothing may point into the void now."""
    connection = op.get_bind()
    if connection.dialect.name == "sqlite" and connection.exec_driver_sql("PRAGMA foreign_key_check").all():
        raise RuntimeError("rows refer to rows that are not there; the migration was rolled back, restore a backup")
