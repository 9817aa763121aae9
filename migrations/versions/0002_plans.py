"""Plans, and what operators give to single rooms: weight, caps, a plan, a hold.

Revision: 0002, after 0001.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

CHECKED = ("weight", "cap", "lane_cap")


def upgrade() -> None:
    _plans()
    with op.batch_alter_table("rooms") as rooms:
        for name in CHECKED:
            rooms.add_column(sa.Column(name, sa.Integer(), nullable=True))
        rooms.add_column(sa.Column("plan", sa.String(length=32), nullable=True))
        rooms.add_column(sa.Column("held_until_ms", sa.BigInteger(), nullable=True))
        for name in CHECKED:
            rooms.create_check_constraint(op.f(f"ck_rooms_{name}_positive"), f"{name} >= 1")
        rooms.create_foreign_key(op.f("fk_rooms_plan"), "plans", ["plan"], ["name"])
    op.create_index(
        "ix_rooms_plan",
        "rooms",
        ["plan"],
        unique=False,
        postgresql_where=sa.text("plan IS NOT NULL"),
        sqlite_where=sa.text("plan IS NOT NULL"),
    )
    _look_at_references()


def downgrade() -> None:
    op.drop_index("ix_rooms_plan", table_name="rooms")
    with op.batch_alter_table("rooms") as rooms:
        rooms.drop_constraint(op.f("fk_rooms_plan"), type_="foreignkey")
        for name in CHECKED:
            rooms.drop_constraint(op.f(f"ck_rooms_{name}_positive"), type_="check")
        for name in (*CHECKED, "plan", "held_until_ms"):
            rooms.drop_column(name)
    op.drop_table("plans")
    _look_at_references()


def _plans() -> None:
    op.create_table(
        "plans",
        sa.Column("name", sa.String(length=32), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=True),
        sa.Column("ceiling", sa.Integer(), nullable=True),
        sa.Column("cap", sa.Integer(), nullable=True),
        sa.Column("lane_cap", sa.Integer(), nullable=True),
        sa.CheckConstraint("cap >= 1", name=op.f("ck_plans_cap_positive")),
        sa.CheckConstraint("ceiling >= 1", name=op.f("ck_plans_ceiling_positive")),
        sa.CheckConstraint("lane_cap >= 1", name=op.f("ck_plans_lane_cap_positive")),
        sa.CheckConstraint("weight >= 1", name=op.f("ck_plans_weight_positive")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_plans")),
    )


def _look_at_references() -> None:
    """A table was rebuilt with SQLite's foreign keys off: nothing may point into the void now."""
    connection = op.get_bind()
    if connection.dialect.name == "sqlite" and connection.exec_driver_sql("PRAGMA foreign_key_check").all():
        raise RuntimeError("rows refer to rows that are not there; the migration was rolled back, restore a backup")
