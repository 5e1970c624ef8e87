"""The database: SQLite in a file, or PostgreSQL; every method is one transaction, or a part of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, Engine, make_url

from blender_dp.collector import schema

_BUSY_MILLISECONDS = 10_000


@dataclass(frozen=True)
class Store:
    """A database that the collector's tables are in."""

    engine: Engine

    @classmethod
    def open(cls, url: str | Path) -> Store:
        """Connect; a plain path is a SQLite file."""
        address = make_url(str(url)) if "://" in str(url) else URL.create("sqlite", database=str(url))
        if address.get_backend_name() == "sqlite":
            engine = sa.create_engine(address, connect_args={"timeout": _BUSY_MILLISECONDS / 1000}, pool_size=8)
            sa.event.listen(engine, "connect", _durable)
            sa.event.listen(engine, "begin", _begin)
        else:
            engine = sa.create_engine(address.set(drivername="postgresql+psycopg"), pool_size=8, pool_pre_ping=True)
        return cls(engine)

    def create(self) -> None:
        """Make the tables that are missing."""
        schema.metadata.create_all(self.engine)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """A transaction: all of it happens, or nothing."""
        with self.engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A look at the database, which hinders no writer."""
        with self.engine.connect().execution_options(blender_dp_reads=True) as connection:
            yield connection

    def insert_new(self, connection: Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
        """Insert the rows that are not there yet, by the primary key."""
        dialect = sqlite if self.engine.dialect.name == "sqlite" else postgresql
        connection.execute(dialect.insert(table).on_conflict_do_nothing(), rows)

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


def _durable(connection: Any, _: object) -> None:  # noqa: ANN401 (sqlite3's, which SQLAlchemy hands over)
    connection.isolation_level = None  # transactions are begun below, not when the driver thinks so
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",  # what was acknowledged survives a power failure
        f"busy_timeout = {_BUSY_MILLISECONDS}",
        "foreign_keys = ON",
        "secure_delete = ON",  # what is deleted is overwritten
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # A transaction that reads first and writes later could find that somebody else has written meanwhile.
    reads = connection.get_execution_options().get("blender_dp_reads")
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
