"""Connections to a SQLite file: commits are durable, and deleted rows leave no traces."""

from __future__ import annotations

import sqlite3
import time
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine

READS = "blender_dp_reads"
"""The execution option of a transaction that only reads."""

_BUSY_MILLISECONDS = 10_000
_PATIENCE_MILLISECONDS = 500
_RETRY_SECONDS = 0.01
_PRIMARY = 0xFF  # the part of an error code that says what kind of error it is; the rest says more about it
_CACHE_KIBIBYTES = 64 * 1024


def sqlite_engine(url: URL) -> Engine:
    """Connections to the file of this URL."""
    engine = sa.create_engine(
        url,
        connect_args={"timeout": _BUSY_MILLISECONDS / 1000},
        pool_size=8,
        hide_parameters=True,  # an error must not quote what was to be stored
    )
    sa.event.listen(engine, "connect", _make_durable)
    sa.event.listen(engine, "begin", _begin)
    return engine


def truncate_write_ahead_log(engine: Engine) -> None:
    """Remove deleted rows from the write-ahead log, unless it is being read."""
    with engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        driver.execute(f"PRAGMA busy_timeout = {_PATIENCE_MILLISECONDS}")  # writers wait this long, too
        driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        driver.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")


def _make_durable(connection: Any, _: object) -> None:  # noqa: ANN401 (sqlite3's, which SQLAlchemy passes on)
    connection.isolation_level = None  # transactions start below, not when the driver decides
    _write_ahead(connection)
    for pragma in (
        "synchronous = FULL",  # what was acknowledged survives a power failure
        f"busy_timeout = {_BUSY_MILLISECONDS}",
        "foreign_keys = ON",
        "secure_delete = ON",  # deleted rows are overwritten
        f"cache_size = -{_CACHE_KIBIBYTES}",  # a page is written once for all its reports
    ):
        connection.execute(f"PRAGMA {pragma}")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Use a write-ahead log. If several processes switch a new file to it at once, SQLite lets none of them wait."""
    until = time.monotonic() + _BUSY_MILLISECONDS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _begin(connection: Connection) -> None:
    # A transaction that reads first and writes later could find that another one has written in between.
    reads = connection.get_execution_options().get(READS)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
