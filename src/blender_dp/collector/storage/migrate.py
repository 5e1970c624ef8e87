"""Upgrades a database to the newest schema."""

from __future__ import annotations

import threading
from pathlib import Path

from blender_dp.collector.storage.store import Store

_FOLDER = Path(__file__).parent / "migrations"
_ALONE = threading.Lock()  # Alembic keeps its state in a module


def migrate(store: Store, version: str = "head") -> None:
    """Run the missing migrations in one transaction; of several processes that start at once, one runs them."""
    from alembic import command  # noqa: PLC0415 (slow to import; the processes that serve do not need it)
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    with _ALONE, store.write("migration") as connection:
        store.extend_limits(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, version)
