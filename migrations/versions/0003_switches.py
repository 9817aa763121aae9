"""Switches: what operators turned on for the whole game, so far the pause of all rooms.

Revision: 0003, after 0002.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "switches",
        sa.Column("name", sa.String(length=16), nullable=False),
        sa.Column("since_ms", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("name IN ('pause_all')", name=op.f("ck_switches_name_known")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_switches")),
    )


def downgrade() -> None:
    op.drop_table("switches")
