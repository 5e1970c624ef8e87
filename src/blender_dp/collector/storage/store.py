"""The database: SQLite in a file, or PostgreSQL; every method is one transaction, or a part of one."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, Engine, make_url

from blender_dp.collector.storage.circuit_breaker import Gate
from blender_dp.collector.storage.crash_points import reached
from blender_dp.collector.storage.leases import Claim, Lease
from blender_dp.collector.storage.postgresql import milliseconds, postgresql_engine
from blender_dp.collector.storage.timeouts import TIMEOUTS, Timeouts

_BUSY_MILLISECONDS = 10_000
_PATIENCE_MILLISECONDS = 500
_DELETED = 10_000  # rows in one statement
_CACHE_KIBIBYTES = 64 * 1024

_INSERT_SQLITE = """
    WITH RECURSIVE places (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM places WHERE n + 1 < ?6)
    INSERT INTO reports (round, id, cells) SELECT ?1, substr(?2, n * ?3 + 1, ?3), substr(?4, n * ?5 + 1, ?5)
    FROM places WHERE true ON CONFLICT DO NOTHING
    """
_INSERT_POSTGRESQL = """
    WITH given (round, ids, id_bytes, cells, cell_bytes, rows)
    AS (VALUES (%b::text, %b::bytea, %b::int4, %b::bytea, %b::int4, %b::int4))
    INSERT INTO reports (round, id, cells)
    SELECT round, substr(ids, n * id_bytes + 1, id_bytes), substr(cells, n * cell_bytes + 1, cell_bytes)
    FROM given, generate_series(0, rows - 1) AS n ORDER BY n ON CONFLICT DO NOTHING
    """


@dataclass(frozen=True)
class Store:
    """A database that the collector's tables are in."""

    engine: Engine
    timeouts: Timeouts
    gate: Gate
    on_commit: list[Callable[[str], None]] = field(default_factory=list, kw_only=True, compare=False)
    """Called with a transaction's name after it, in the thread that has written."""

    @classmethod
    def open(cls, url: str | Path, timeouts: Timeouts | None = None) -> Store:
        """Connect; a plain path is a SQLite file."""
        address = make_url(str(url)) if "://" in str(url) else URL.create("sqlite", database=str(url))
        timeouts = timeouts or TIMEOUTS
        gate = Gate(timeouts.pause, timeouts.ping + timeouts.connect)
        if address.get_backend_name() != "sqlite":
            return cls(postgresql_engine(address, timeouts, gate), timeouts, gate)
        engine = sa.create_engine(
            address,
            connect_args={"timeout": _BUSY_MILLISECONDS / 1000},
            pool_size=8,
            hide_parameters=True,  # an error must not quote what was to be stored
        )
        sa.event.listen(engine, "connect", _durable)
        sa.event.listen(engine, "begin", _begin)
        return cls(engine, timeouts, gate)

    @contextmanager
    def write(self, name: str) -> Iterator[Connection]:
        """A transaction: all of it happens, or nothing. Its name says where a test can crash."""
        self.gate.enter()
        with self.engine.begin() as connection:
            yield connection
            reached(f"{name}: before commit")
        reached(f"{name}: after commit")
        for told in self.on_commit:
            told(name)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A look at the database as it is now, which hinders no writer and sees nothing of what is written meanwhile."""
        options: dict[str, Any] = {"blender_dp_reads": True}
        if not self.is_sqlite:
            options["isolation_level"] = "REPEATABLE READ"
        self.gate.enter()
        with self.engine.connect().execution_options(**options) as connection:
            yield connection

    @contextmanager
    def claim(self, name: str) -> Iterator[Claim | None]:
        """A claim on some work if nobody else has one, until the end of the block.

        On PostgreSQL, which several machines may share, it is a lease: it expires if its holder disappears. In SQLite, where
        writers are one at a time anyway, all claims are one lock on a file beside the database.
        """
        if self.is_sqlite:
            with Path(f"{self.engine.url.database}-claim").open("w") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    yield None
                else:
                    yield Claim()
            return
        self.gate.enter()
        lease = Lease(self.engine, name, self.timeouts)
        if not lease.take():
            yield None
            return
        try:
            yield lease
        finally:
            lease.give_back()

    @property
    def is_sqlite(self) -> bool:
        """Whether writers are one at a time."""
        return self.engine.dialect.name == "sqlite"

    def take_time(self, connection: Connection, *, slow_reader: bool = False) -> None:
        """Let this transaction wait longer for locks and run longer statements: at startup, or where it holds no lock.

        A slow reader may also pause longer between two statements.
        """
        if self.is_sqlite:
            return
        limits = {"lock_timeout": self.timeouts.startup_lock, "statement_timeout": self.timeouts.long_statement}
        if slow_reader:
            limits["idle_in_transaction_session_timeout"] = self.timeouts.slow_reader
        for name, seconds in limits.items():
            connection.exec_driver_sql(f"SET LOCAL {name} = {milliseconds(seconds)}")
        driver: Any = connection.connection.driver_connection
        driver.limit = self.timeouts.long_statement + self.timeouts.margin  # until it goes back to the pool

    def hold(self, connection: Connection, name: str, *, shared: bool = False) -> None:
        """Wait until nobody else holds this name, and hold it until the transaction ends; sharers do not hinder each other.

        Whoever reads before it writes must hold what it reads, or it may have changed in between. In SQLite a transaction
        that writes is alone anyway. The locks of PostgreSQL are advisory ones: they are granted in turn, so that the many
        who share a round cannot keep away the one who closes it, as they could with locks of rows.
        """
        if not self.is_sqlite:
            function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
            connection.execute(sa.text(f"SELECT {function}(:number)"), {"number": _number(name)})

    def insert_new(self, connection: Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
        """Insert the rows that are not there yet, by the primary key."""
        connection.execute(self._insert(table).on_conflict_do_nothing(), rows)

    def put(self, connection: Connection, table: sa.Table, row: dict[str, Any], unique: Iterable[str]) -> None:
        """Insert a row, or overwrite the one with the same values in these columns."""
        statement = self._insert(table).values(row)
        connection.execute(statement.on_conflict_do_update(index_elements=[*unique], set_=row))

    def insert_reports(self, connection: Connection, name: str, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Insert a round's reports whose ids are not there yet, as fast as the database can.

        All ids are one value and all cells another, which the database cuts up itself: row by row, the thread that writes
        would have to wait for the one that answers after every row. They are sorted: neighbours go to the same page, and
        two transactions with the same reports cannot wait for each other in a circle.
        """
        for (id_bytes, cell_bytes), group in groupby(sorted(rows, key=_by_width), lambda row: (len(row[0]), len(row[1]))):
            ids, cells = (b"".join(column) for column in zip(*group, strict=True))
            values = (name, ids, id_bytes, cells, cell_bytes, len(ids) // id_bytes)
            connection.exec_driver_sql(_INSERT_SQLITE if self.is_sqlite else _INSERT_POSTGRESQL, values)

    def delete_round(self, connection: Connection, table: sa.Table, name: str) -> None:
        """Delete all rows of a round, in statements that are short however many there are."""
        (key,) = [column for column in table.primary_key if column.name != "round"]
        some = sa.select(key).where(table.c.round == name).limit(_DELETED).scalar_subquery()
        while connection.execute(table.delete().where(table.c.round == name, key.in_(some))).rowcount == _DELETED:
            pass

    def forget_deleted(self) -> None:
        """Let no deleted row linger in SQLite's log of writes, if nobody reads it. PostgreSQL cleans up when it likes."""
        if self.is_sqlite:
            with self.engine.connect() as connection:
                driver: Any = connection.connection.driver_connection
                driver.execute(f"PRAGMA busy_timeout = {_PATIENCE_MILLISECONDS}")  # writers wait for as long
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                driver.execute(f"PRAGMA busy_timeout = {_BUSY_MILLISECONDS}")

    def _insert(self, table: sa.Table) -> Any:  # noqa: ANN401 (each dialect has its own)
        return (sqlite if self.is_sqlite else postgresql).insert(table)

    def joined(self, connection: Connection) -> Store:
        """A store whose every transaction is a part of one that has begun."""
        return _Joined(self.engine, self.timeouts, self.gate, connection)

    def close(self) -> None:
        """Let go of all connections."""
        self.engine.dispose()


@dataclass(frozen=True)
class _Joined(Store):
    connection: Connection

    @contextmanager
    def write(self, name: str) -> Iterator[Connection]:  # noqa: ARG002 (the transaction that has begun has its own)
        """The transaction that has begun."""
        yield self.connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """The same, so that what it has written is seen."""
        yield self.connection


def _number(name: str) -> int:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)


def _by_width(row: tuple[bytes, bytes]) -> tuple[int, int, bytes, bytes]:
    return len(row[0]), len(row[1]), *row


def _durable(connection: Any, _: object) -> None:  # noqa: ANN401 (sqlite3's, which SQLAlchemy hands over)
    connection.isolation_level = None  # transactions are begun below, not when the driver thinks so
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",  # what was acknowledged survives a power failure
        f"busy_timeout = {_BUSY_MILLISECONDS}",
        "foreign_keys = ON",
        "secure_delete = ON",  # what is deleted is overwritten
        f"cache_size = -{_CACHE_KIBIBYTES}",  # a page is written once for all reports that fall on it
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # A transaction that reads first and writes later could find that somebody else has written meanwhile.
    reads = connection.get_execution_options().get("blender_dp_reads")
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
