"""The first tables, written out: the schema keeps changing, and this migration must not."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create all tables of the first version."""
    op.create_table(
        "campaigns",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_campaigns"),
        sa.UniqueConstraint("name", name="uq_campaigns_name"),
    )
    op.create_table(
        "rounds",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("campaign", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("lists_at", sa.BigInteger),
        sa.Column("closes_at", sa.BigInteger),
        sa.Column("noise", sa.LargeBinary),
        sa.Column("listing", sa.Text),
        sa.Column("head_list", sa.String(64)),
        sa.Column("release", sa.String(64)),
        sa.Column("bundle", sa.String(64)),
        sa.Column("problem", sa.Text),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_rounds"),
        sa.UniqueConstraint("campaign", "number", name="uq_rounds_campaign"),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name="fk_rounds_campaign"),
    )
    op.create_index("ix_rounds_state", "rounds", ["state"])
    op.create_table(
        "tokens",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("campaign", sa.String(32)),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_tokens"),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name="fk_tokens_campaign"),
    )
    op.create_table(
        "records",
        sa.Column("receipt", sa.String(64), nullable=False),
        sa.Column("round", sa.String(32), nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("receipt", name="pk_records"),
        sa.UniqueConstraint("round", "owner", name="uq_records_round"),
        sa.ForeignKeyConstraint(["round"], ["rounds.id"], name="fk_records_round"),
    )
    op.create_table(
        "reports",
        sa.Column("round", sa.String(32), nullable=False),
        sa.Column("id", sa.LargeBinary(16), nullable=False),
        sa.Column("cells", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("round", "id", name="pk_reports"),
        sa.ForeignKeyConstraint(["round"], ["rounds.id"], name="fk_reports_round"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "objects",
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_objects"),
    )
    op.create_table(
        "ledger",
        sa.Column("number", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("campaign", sa.String(32), nullable=False),
        sa.Column("round", sa.String(32), nullable=False),
        sa.Column("user_group", sa.String(16), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("entry", sa.Text, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_ledger"),
        sa.UniqueConstraint("round", "user_group", name="uq_ledger_round"),
        sa.UniqueConstraint("digest", name="uq_ledger_digest"),
    )
    op.create_table(
        "events",
        sa.Column("number", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("round", sa.String(32)),
        sa.Column("what", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_events"),
    )
    op.create_table(
        "answers",
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("request", sa.String(64), nullable=False),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_answers"),
    )
    op.create_table(
        "identity",
        sa.Column("name", sa.String(32), nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_identity"),
    )
