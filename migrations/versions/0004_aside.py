"""Updates that failed by themselves: how often, since when, and what they were once they are set aside.

Revision: 0004, after 0003.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "aside",
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("error", sa.String(length=64), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("first_ms", sa.BigInteger(), nullable=False),
        sa.Column("last_ms", sa.BigInteger(), nullable=False),
        sa.Column("aside_ms", sa.BigInteger(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.CheckConstraint("attempts >= 1", name=op.f("ck_aside_attempts_positive")),
        sa.CheckConstraint("(aside_ms IS NULL) = (body IS NULL)", name=op.f("ck_aside_kept_once_aside")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_aside")),
    )
    op.create_index("ix_aside_last_ms", "aside", ["last_ms"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_aside_last_ms", table_name="aside")
    op.drop_table("aside")
