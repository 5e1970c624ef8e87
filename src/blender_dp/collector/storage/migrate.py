"""Bring a database to the newest schema."""

from __future__ import annotations

import threading
from pathlib import Path

from alembic import command
from alembic.config import Config

from blender_dp.collector.storage.store import Store

_FOLDER = Path(__file__).parent / "migrations"
_ALONE = threading.Lock()  # Alembic keeps what it works on in its module


def migrate(store: Store, version: str = "head") -> None:
    """Run the migrations that are missing, in one transaction, once however many processes begin at a time."""
    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    with _ALONE, store.write("migration") as connection:
        store.extend_limits(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, version)
