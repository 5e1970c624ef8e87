"""The first tables."""

from __future__ import annotations

from alembic import op

from blender_dp.collector.schema import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all tables of the first version."""
    metadata.create_all(op.get_bind())
