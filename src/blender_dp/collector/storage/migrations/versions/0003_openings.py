"""Signed openings of rounds, permanent withdrawals, and the hour of a refused step."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add columns and a table. Rounds that are already open get no opening; devices upload to the next one."""
    op.add_column("rounds", sa.Column("opening", sa.String(64)))
    op.add_column("rounds", sa.Column("refused_at", sa.BigInteger))
    op.create_table(
        "withdrawals",
        sa.Column("receipt", sa.String(64), nullable=False),
        sa.Column("round", sa.String(32), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("receipt", name="pk_withdrawals"),
        sa.UniqueConstraint("round", "owner", name="uq_withdrawals_round"),
        sa.ForeignKeyConstraint(["round"], ["rounds.id"], name="fk_withdrawals_round"),
    )
