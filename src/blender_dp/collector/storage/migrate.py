"""Upgrades a database to the newest schema."""

from __future__ import annotations

import threading
from pathlib import Path

from blender_dp.collector.storage.store import Store

_FOLDER = Path(__file__).parent / "migrations"
_NEWEST = max(path.name for path in (_FOLDER / "versions").glob("[0-9]*.py")).partition("_")[0]
_ALONE = threading.Lock()  # Alembic keeps its state in a module
_VERSIONED = {
    "sqlite": "SELECT name FROM sqlite_master WHERE name = 'alembic_version'",
    "postgresql": "SELECT to_regclass('alembic_version')",
}
"""Statements that return a name if there is a table of versions, by dialect."""


def migrate(store: Store, version: str = "head") -> None:
    """Run the missing migrations in one transaction; of several processes that start at once, one runs them."""
    if version == "head" and _is_newest(store):
        return
    from alembic import command  # noqa: PLC0415 (slow to import; the processes that serve do not need it)
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(_FOLDER))
    with _ALONE, store.write("migration") as connection:
        store.extend_limits(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, version)


def _is_newest(store: Store) -> bool:
    """Whether no migration is missing, which is usual. This query takes a fraction of the time of importing Alembic."""
    with store.read() as connection:
        if connection.exec_driver_sql(_VERSIONED[connection.dialect.name]).scalar() is None:
            return False
        return connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalars().all() == [_NEWEST]
