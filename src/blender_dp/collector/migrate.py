"""Bring a database to the newest schema."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config

from blender_dp.collector.store import Store

_FOLDER = Path(__file__).parent / "migrations"


def migrate(store: Store) -> None:
    """Run the migrations that are missing, in one transaction, once however many processes begin at a time."""
    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    with store.write() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
